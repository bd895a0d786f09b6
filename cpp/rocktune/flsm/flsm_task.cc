#include "rocktune/flsm/flsm_task.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rocktune {
namespace {

// True if less than half of an incoming push is missing.
bool IsFull(uint64_t bytes, uint64_t capacity, uint64_t incoming) { return bytes + incoming / 2 >= capacity; }

// Returns the bytes of the runs that are older than a run and not leaving.
uint64_t OlderBytes(const FlsmLevel& level, const FlsmRun& run) {
  uint64_t bytes = 0;
  for (const FlsmRun& other : level.runs) {
    bytes += other.physical > run.physical && other.use != RunUse::kLeaving ? other.bytes : 0;
  }
  return bytes;
}

std::vector<FlsmRun>::iterator Find(FlsmLevel* level, int physical) {
  return std::find_if(level->runs.begin(), level->runs.end(),
                      [physical](const FlsmRun& run) { return run.physical == physical; });
}

// Returns the bytes of the run at a physical level; 0 if there is no run.
uint64_t BytesOf(const FlsmShape& shape, int physical) {
  for (const FlsmLevel& level : shape.levels) {
    for (const FlsmRun& run : level.runs) {
      if (run.physical == physical) {
        return run.bytes;
      }
    }
  }
  return 0;
}

// Marks a task's inputs as used, or as idle again.
void MarkInputs(FlsmShape* shape, const FlsmTask& task, bool begins) {
  for (const int physical : task.inputs) {
    for (int number = std::max(1, task.level); number <= task.OutputLevel(); ++number) {
      FlsmLevel& level = shape->level(number);
      if (const auto run = Find(&level, physical); run != level.runs.end()) {
        const RunUse use = number == task.OutputLevel() ? RunUse::kArriving : RunUse::kLeaving;
        run->use = begins ? use : RunUse::kIdle;
      }
    }
  }
}

// Inserts a run in the order of physical levels.
void Insert(FlsmLevel* level, const FlsmRun& run) {
  const auto after = std::find_if(level->runs.begin(), level->runs.end(),
                                  [&run](const FlsmRun& other) { return other.physical > run.physical; });
  level->runs.insert(after, run);
}

}  // namespace

bool IsFullRun(const FlsmShape& shape, int number, const FlsmRun& run) {
  const uint64_t incoming = shape.Incoming(number);
  const auto policy = static_cast<uint64_t>(shape.Policy(number));
  if (shape.granularity == FlsmGranularity::kFiles) {
    return IsFull(run.bytes, shape.Capacity(number) / policy, incoming);
  }
  const uint64_t older = OlderBytes(shape.level(number), run);
  const uint64_t half_push = incoming / 2;
  const double share = static_cast<double>(shape.Capacity(number)) / static_cast<double>(policy);
  const double begins = std::floor(static_cast<double>(older + half_push) / share);
  return static_cast<double>(older + run.bytes + half_push) >= (begins + 1) * share &&
         static_cast<double>(run.bytes) >= share / 2;
}

bool IsFullLevel(const FlsmShape& shape, int number, uint64_t further) {
  return IsFull(shape.level(number).staying_bytes() + further, shape.Capacity(number),
                shape.Incoming(number));
}

FlsmTask InPlace(const FlsmShape& shape, const FlsmTask& task) {
  FlsmTask placed = task;
  if (const int oldest = task.inputs.back(); oldest >= shape.FirstSlot(task.OutputLevel())) {
    placed.output = oldest;
  }
  return placed;
}

double OverlapOfPieces(const FlsmShape& shape, const FlsmTask& task) {
  const auto file_bytes = static_cast<double>(shape.file_bytes);
  double bytes = file_bytes / 2;  // of the output's table in which a piece ends
  double range = 0;               // share of the keys between the ends of the newest run and of this run
  for (const int physical : task.inputs) {
    const auto run_bytes = static_cast<double>(BytesOf(shape, physical));
    if (physical != task.inputs.front() && run_bytes > 0) {
      range += file_bytes / run_bytes / 2;
    }
    bytes += range * run_bytes;
  }
  return bytes;
}

uint64_t MaxPieceBytes(const FlsmShape& shape, const FlsmTask& task, uint64_t max_merge_bytes) {
  if (max_merge_bytes > 0) {
    return max_merge_bytes;
  }
  const double bytes = kPieceOverlaps * OverlapOfPieces(shape, task);
  const bool cuts = bytes > 0 && bytes < static_cast<double>(task.bytes);
  return cuts ? static_cast<uint64_t>(bytes) : task.bytes;
}

bool IsInPieces(const FlsmTask& task, uint64_t max_bytes) {
  return task.bytes > max_bytes && task.kind == FlsmTask::Kind::kPush && task.level0_files == 0;
}

void Begin(FlsmShape* shape, const FlsmTask& task) {
  MarkInputs(shape, task, true);
  if (task.level0_files > 0) {
    shape->level0_busy = true;
    shape->level0_files = 0;
    shape->level0_bytes = 0;
  }
  if (task.kind == FlsmTask::Kind::kPush) {
    shape->level(task.level).push = false;
  }
  FlsmLevel& level = shape->level(task.OutputLevel());
  const bool merges = std::find(task.inputs.begin(), task.inputs.end(), task.output) != task.inputs.end();
  if (!merges) {
    // An empty run reserves the place, so that no other task uses it.
    Insert(&level, FlsmRun{task.output, 0, false, RunUse::kArriving});
  }
}

void Abandon(FlsmShape* shape, const FlsmTask& task) {
  MarkInputs(shape, task, false);
  FlsmLevel& level = shape->level(task.OutputLevel());
  const bool merges = std::find(task.inputs.begin(), task.inputs.end(), task.output) != task.inputs.end();
  if (const auto place = Find(&level, task.output); !merges && place != level.runs.end()) {
    level.runs.erase(place);
  }
  if (task.level0_files > 0) {
    shape->level0_busy = false;
    shape->level0_files += task.level0_files;
    shape->level0_bytes += task.level0_bytes;
  }
}

void Complete(FlsmShape* shape, const FlsmTask& task, uint64_t written) {
  bool sealed = false;
  for (int number = std::max(1, task.level); number <= task.OutputLevel(); ++number) {
    FlsmLevel& level = shape->level(number);
    for (const int physical : task.inputs) {
      if (const auto run = Find(&level, physical); run != level.runs.end()) {
        sealed = task.kind == FlsmTask::Kind::kMoveDown && run->sealed;
        level.runs.erase(run);
      }
    }
  }
  const int number = task.OutputLevel();
  FlsmLevel& level = shape->level(number);
  if (const auto place = Find(&level, task.output); place != level.runs.end()) {
    level.runs.erase(place);
  }
  if (written > 0) {
    Insert(&level, FlsmRun{task.output, written, sealed, RunUse::kIdle});
    // After the insertion, since the run may make its level the deepest in use, which changes its policy.
    FlsmRun& run = *Find(&level, task.output);
    run.sealed = run.sealed || (shape->granularity == FlsmGranularity::kLevels &&
                                task.kind != FlsmTask::Kind::kMoveDown && IsFullRun(*shape, number, run));
  }
  if (task.level0_files > 0) {
    shape->level0_busy = false;
  }
  if (task.kind == FlsmTask::Kind::kPush) {
    FlsmLevel& source = shape->level(task.level);
    if (source.next_policy != 0) {
      source.policy = std::exchange(source.next_policy, 0);
    }
  }
}

void CompleteFiles(FlsmShape* shape, const FlsmTask& task, const std::vector<FlsmRun>& runs) {
  MarkInputs(shape, task, false);
  for (int number = task.level; number <= task.OutputLevel(); ++number) {
    FlsmLevel& level = shape->level(number);
    for (FlsmRun& run : level.runs) {
      const auto now = std::find_if(runs.begin(), runs.end(),
                                    [&run](const FlsmRun& other) { return other.physical == run.physical; });
      const bool used = run.physical == task.output ||
                        std::find(task.inputs.begin(), task.inputs.end(), run.physical) != task.inputs.end();
      if (used) {
        run.use = RunUse::kIdle;
        run.bytes = now == runs.end() ? 0 : now->bytes;
      }
    }
    level.runs.erase(
        std::remove_if(level.runs.begin(), level.runs.end(),
                       [](const FlsmRun& run) { return run.use == RunUse::kIdle && run.bytes == 0; }),
        level.runs.end());
  }
}

}  // namespace rocktune
