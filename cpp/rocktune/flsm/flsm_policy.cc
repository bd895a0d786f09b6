#include "rocktune/flsm/flsm_policy.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace rocktune {
namespace {

// Merges bring a little less than their share, since entries overwrite each other. So what would exceed its
// capacity with half a further push counts as full; otherwise each run would take one push too many.
bool IsFull(uint64_t bytes, uint64_t capacity, uint64_t incoming) { return bytes + incoming / 2 >= capacity; }

uint64_t RunCapacity(const FlsmShape& shape, int number) {
  return shape.Capacity(number) / static_cast<uint64_t>(shape.level(number).policy);
}

bool IsFullRun(const FlsmShape& shape, int number, const FlsmRun& run) {
  return IsFull(run.bytes, RunCapacity(shape, number), shape.Incoming(number));
}

bool Any(const FlsmLevel& level, RunUse use) {
  return std::any_of(level.runs.begin(), level.runs.end(),
                     [use](const FlsmRun& run) { return run.use == use; });
}

// Free physical levels above the newest run, where what comes next can go.
int FreeAbove(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  return level.runs.empty() ? shape.slots : level.runs.front().physical - shape.FirstSlot(number);
}

// Where data goes that comes into a level.
struct Place {
  std::optional<int> with;  // the run that is merged with it
  int output = 0;
};

// Nowhere while the newest run is being written, or where there is no room above it.
std::optional<Place> PlaceIn(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (level.runs.empty()) {
    return Place{std::nullopt, shape.LastSlot(number)};
  }
  const FlsmRun& newest = level.runs.front();
  if (newest.use == RunUse::kArriving) {
    return std::nullopt;
  }
  // The deepest level cannot go further down, so that it takes in what comes whatever the policy says.
  const bool no_way_out = number == shape.deepest() && FreeAbove(shape, number) == 0;
  if (newest.use == RunUse::kIdle && (!newest.sealed || no_way_out)) {
    // The only run of its level can go as far down as there is room, which keeps room above it.
    return Place{newest.physical, level.runs.size() == 1 ? shape.LastSlot(number) : newest.physical};
  }
  if (FreeAbove(shape, number) == 0) {
    return std::nullopt;
  }
  return Place{std::nullopt, newest.physical - 1};
}

std::optional<FlsmTask> TakeIn(const FlsmShape& shape) {
  if (shape.level0_files == 0 || shape.level0_busy) {
    return std::nullopt;
  }
  const std::optional<Place> place = PlaceIn(shape, 1);
  if (!place) {
    return std::nullopt;
  }
  FlsmTask task{FlsmTask::Kind::kTakeIn, 0, {0}, place->output, shape.level0_bytes, shape.level0_files,
                shape.level0_bytes};
  if (place->with) {
    task.inputs.push_back(*place->with);
    task.bytes += shape.level(1).runs.front().bytes;
  }
  return task;
}

// Whether a level's runs have to go, because it is full, because someone wants it, or because runs have crept
// up to where the next ones would find no room: a level that waits for room holds up all above it.
bool MustGo(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (level.push) {
    return true;
  }
  if (IsFull(level.staying_bytes(), shape.Capacity(number), shape.Incoming(number))) {
    return true;
  }
  return FreeAbove(shape, number) == 0;
}

std::optional<FlsmTask> Push(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (number == shape.deepest() || level.runs.empty() || Any(level, RunUse::kLeaving) ||
      !MustGo(shape, number)) {
    return std::nullopt;
  }
  const std::optional<Place> place = PlaceIn(shape, number + 1);
  if (!place) {
    return std::nullopt;
  }
  FlsmTask task{FlsmTask::Kind::kPush, number, {}, place->output, 0, 0, 0};
  // From the oldest on, for nothing newer may come to lie below. What is arriving stays.
  for (auto run = level.runs.rbegin(); run != level.runs.rend() && run->use == RunUse::kIdle; ++run) {
    task.inputs.insert(task.inputs.begin(), run->physical);
    task.bytes += run->bytes;
  }
  if (task.inputs.empty()) {
    return std::nullopt;
  }
  if (place->with) {
    task.inputs.push_back(*place->with);
    task.bytes += shape.level(number + 1).runs.front().bytes;
  }
  return task;
}

// The oldest run that has room below it, when there is little above.
std::optional<FlsmTask> Rehome(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (FreeAbove(shape, number) >= shape.size_ratio / 2 + 1 || Any(level, RunUse::kLeaving)) {
    return std::nullopt;
  }
  int below = shape.LastSlot(number) + 1;
  for (auto run = level.runs.rbegin(); run != level.runs.rend(); ++run) {
    if (run->physical < below - 1) {
      if (run->use != RunUse::kIdle) {
        return std::nullopt;
      }
      return FlsmTask{FlsmTask::Kind::kRehome, number, {run->physical}, below - 1, run->bytes, 0, 0};
    }
    below = run->physical;
  }
  return std::nullopt;
}

std::vector<FlsmRun>::iterator Find(FlsmLevel* level, int physical) {
  return std::find_if(level->runs.begin(), level->runs.end(),
                      [physical](const FlsmRun& run) { return run.physical == physical; });
}

// The logical level that a task's output belongs to.
int OutputLevel(const FlsmTask& task) {
  return task.kind == FlsmTask::Kind::kRehome ? task.level : task.level + 1;
}

void MarkInputs(FlsmShape* shape, const FlsmTask& task, bool begins) {
  for (const int physical : task.inputs) {
    for (int number = std::max(1, task.level); number <= OutputLevel(task); ++number) {
      FlsmLevel& level = shape->level(number);
      if (const auto run = Find(&level, physical); run != level.runs.end()) {
        const RunUse use = number == OutputLevel(task) ? RunUse::kArriving : RunUse::kLeaving;
        run->use = begins ? use : RunUse::kIdle;
      }
    }
  }
}

// Inserts a run where its physical level belongs.
void Insert(FlsmLevel* level, const FlsmRun& run) {
  const auto after = std::find_if(level->runs.begin(), level->runs.end(),
                                  [&run](const FlsmRun& other) { return other.physical > run.physical; });
  level->runs.insert(after, run);
}

}  // namespace

void SetPolicy(FlsmShape* shape, int number, int policy, FlsmTransition transition) {
  FlsmLevel& level = shape->level(number);
  if (transition == FlsmTransition::kLazy && !level.runs.empty()) {
    level.next_policy = policy;
    return;
  }
  level.next_policy = 0;
  level.policy = policy;
  if (level.runs.empty()) {
    return;
  }
  if (transition == FlsmTransition::kGreedy) {
    level.push = true;
    return;
  }
  FlsmRun& newest = level.runs.front();
  newest.sealed = newest.sealed || (newest.use == RunUse::kIdle && IsFullRun(*shape, number, newest));
}

std::vector<FlsmTask> DueTasks(const FlsmShape& shape) {
  std::vector<FlsmTask> due;
  FlsmShape rest = shape;
  const auto add = [&due, &rest](const std::optional<FlsmTask>& task) {
    if (task) {
      due.push_back(*task);
      Begin(&rest, *task);
    }
  };
  // The deepest first: what leaves a level makes way for what comes into it, which then need not wait for it.
  for (int number = shape.deepest(); number >= 1; --number) {
    add(Push(rest, number));
    add(Rehome(rest, number));
  }
  add(TakeIn(rest));
  std::reverse(due.begin(), due.end());
  return due;
}

void Begin(FlsmShape* shape, const FlsmTask& task) {
  MarkInputs(shape, task, true);
  if (task.kind == FlsmTask::Kind::kTakeIn) {
    shape->level0_busy = true;
    shape->level0_files = 0;
    shape->level0_bytes = 0;
  }
  if (task.kind == FlsmTask::Kind::kPush) {
    shape->level(task.level).push = false;
  }
  FlsmLevel& level = shape->level(OutputLevel(task));
  const bool merges = std::find(task.inputs.begin(), task.inputs.end(), task.output) != task.inputs.end();
  if (!merges) {
    // The place is taken from now on, with nothing in it yet.
    Insert(&level, FlsmRun{task.output, 0, false, RunUse::kArriving});
  }
}

void Abandon(FlsmShape* shape, const FlsmTask& task) {
  MarkInputs(shape, task, false);
  FlsmLevel& level = shape->level(OutputLevel(task));
  const bool merges = std::find(task.inputs.begin(), task.inputs.end(), task.output) != task.inputs.end();
  if (const auto place = Find(&level, task.output); !merges && place != level.runs.end()) {
    level.runs.erase(place);
  }
  if (task.kind == FlsmTask::Kind::kTakeIn) {
    shape->level0_busy = false;
    shape->level0_files += task.level0_files;
    shape->level0_bytes += task.level0_bytes;
  }
}

void Complete(FlsmShape* shape, const FlsmTask& task, uint64_t written) {
  bool sealed = false;
  for (int number = std::max(1, task.level); number <= OutputLevel(task); ++number) {
    FlsmLevel& level = shape->level(number);
    for (const int physical : task.inputs) {
      if (const auto run = Find(&level, physical); run != level.runs.end()) {
        sealed = task.kind == FlsmTask::Kind::kRehome && run->sealed;
        level.runs.erase(run);
      }
    }
  }
  const int number = OutputLevel(task);
  FlsmLevel& level = shape->level(number);
  if (const auto place = Find(&level, task.output); place != level.runs.end()) {
    level.runs.erase(place);
  }
  if (written > 0) {
    FlsmRun run{task.output, written, sealed, RunUse::kIdle};
    run.sealed = run.sealed || (task.kind != FlsmTask::Kind::kRehome && IsFullRun(*shape, number, run));
    Insert(&level, run);
  }
  if (task.kind == FlsmTask::Kind::kTakeIn) {
    shape->level0_busy = false;
  }
  if (task.kind == FlsmTask::Kind::kPush) {
    FlsmLevel& source = shape->level(task.level);
    if (source.next_policy != 0) {
      source.policy = std::exchange(source.next_policy, 0);
    }
  }
}

}  // namespace rocktune
