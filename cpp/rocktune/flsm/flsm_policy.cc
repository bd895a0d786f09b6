#include "rocktune/flsm/flsm_policy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace rocktune {
namespace {

// True if a running compaction uses a run of the level in this way.
bool HasRun(const FlsmLevel& level, RunUse use) {
  return std::any_of(level.runs.begin(), level.runs.end(),
                     [use](const FlsmRun& run) { return run.use == use; });
}

// Returns the number of free slots above the newest run, in which new runs can be placed.
int FreeAbove(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  return level.runs.empty() ? shape.slots : level.runs.front().physical - shape.FirstSlot(number);
}

// The place of data that arrives in a level.
struct Place {
  std::vector<int> with;  // physical levels of the runs that it is merged with, from the newest on
  int output = 0;         // physical level of the merged run
};

// Returns the place of a new run; nullopt if no slot is free.
std::optional<Place> NewRun(const FlsmShape& shape, int number) {
  if (FreeAbove(shape, number) == 0) {
    return std::nullopt;
  }
  const FlsmLevel& level = shape.level(number);
  return Place{{}, level.runs.empty() ? shape.LastSlot(number) : level.runs.front().physical - 1};
}

// True if the level has no free slot and no level below to push to. It then merges whatever arrives, sealed
// or not.
bool IsDeepestAndFull(const FlsmShape& shape, int number) {
  return number == shape.deepest() && FreeAbove(shape, number) == 0;
}

// Returns the place with whole levels: the newest run, which is the active run of RusKey, section 4.2; a new
// run if that one is sealed or leaving; nullopt if it is being written.
std::optional<Place> PlaceWithLevels(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (level.runs.empty()) {
    return NewRun(shape, number);
  }
  const FlsmRun& newest = level.runs.front();
  if (newest.use == RunUse::kArriving) {
    return std::nullopt;
  }
  if (newest.use == RunUse::kIdle && (!newest.sealed || IsDeepestAndFull(shape, number))) {
    // A level's only run is rewritten at the bottom of its block, which frees the slots above it.
    return Place{{newest.physical}, level.runs.size() == 1 ? shape.LastSlot(number) : newest.physical};
  }
  return NewRun(shape, number);
}

// Returns the place with files (RusKey, section 7): the newest run if it has room; else a new run if there
// are fewer than K; else the newest run in which pushes have made room. The runs above that one are merged
// too, since newer entries must not get below older ones.
std::optional<Place> PlaceWithFiles(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (level.runs.empty()) {
    return NewRun(shape, number);
  }
  if (!std::all_of(level.runs.begin(), level.runs.end(),
                   [](const FlsmRun& run) { return run.use == RunUse::kIdle; })) {
    // Level 0 must not wait until a push has ended, so it becomes a run of its own.
    return number == 1 && !HasRun(level, RunUse::kArriving) ? NewRun(shape, number) : std::nullopt;
  }
  const auto has_room = [&](const FlsmRun& run) { return !run.sealed && !IsFullRun(shape, number, run); };
  const auto active =
      std::count_if(level.runs.begin(), level.runs.end(), [](const FlsmRun& run) { return !run.sealed; });
  if (!has_room(level.runs.front()) && active < shape.Policy(number) && FreeAbove(shape, number) > 0) {
    return NewRun(shape, number);
  }
  auto into = std::find_if(level.runs.begin(), level.runs.end(), has_room);
  if (into == level.runs.end()) {
    into = level.runs.begin();
  }
  Place place{{}, into->physical};
  for (auto run = level.runs.begin(); run <= into; ++run) {
    place.with.push_back(run->physical);
  }
  return place;
}

// Returns the place of data that arrives in a level; nullopt while a running compaction or a lack of slots
// prevents it.
std::optional<Place> PlaceFor(const FlsmShape& shape, int number) {
  return shape.granularity == FlsmGranularity::kFiles ? PlaceWithFiles(shape, number)
                                                      : PlaceWithLevels(shape, number);
}

// Adds a place to a task: its output, and the runs that it merges with.
void AddPlace(const FlsmShape& shape, const Place& place, FlsmTask* task) {
  task->output = place.output;
  for (const FlsmRun& run : shape.level(task->OutputLevel()).runs) {
    if (std::find(place.with.begin(), place.with.end(), run.physical) != place.with.end()) {
      task->inputs.push_back(run.physical);
      task->bytes += run.bytes;
    }
  }
}

// True if a push of level 1 includes level 0. It does only if the output is a new run. A merge with a run
// there, perhaps ten times as large, would block level 0 for as long: RocksDB runs one level-0 compaction at
// a time.
bool PushesLevel0(const FlsmShape& shape, const Place& below) {
  const std::vector<FlsmRun>& runs = shape.level(1).runs;
  return shape.granularity == FlsmGranularity::kLevels && shape.max_level0_files > 0 &&
         shape.level0_files > 0 && !shape.level0_busy && below.with.empty() &&
         std::all_of(runs.begin(), runs.end(), [](const FlsmRun& run) { return run.use == RunUse::kIdle; });
}

// True if level 0's files stay. A flushed file is a run already. As a run of level 1 it need not be rewritten
// until level 1 has more runs than its policy, or is full and its push merges with a run below. With files
// level 1 is always full.
bool Level0Waits(const FlsmShape& shape) {
  if (shape.granularity == FlsmGranularity::kFiles) {
    return false;
  }
  const std::vector<FlsmRun>& runs = shape.level(1).runs;
  const auto staying = static_cast<uint64_t>(std::count_if(
      runs.begin(), runs.end(), [](const FlsmRun& run) { return run.use != RunUse::kLeaving; }));
  if (shape.level0_files > shape.max_level0_files ||
      shape.level0_files + staying > static_cast<uint64_t>(shape.Policy(1))) {
    return false;
  }
  if (shape.deepest() == 1 || !IsFullLevel(shape, 1, shape.level0_bytes)) {
    return true;
  }
  const std::optional<Place> below = PlaceFor(shape, 2);
  return below && PushesLevel0(shape, *below);
}

// Returns the merge of level 0 into level 1; nullopt if it is not due or must wait.
std::optional<FlsmTask> MergeLevel0(const FlsmShape& shape) {
  if (shape.level0_files == 0 || shape.level0_busy || Level0Waits(shape)) {
    return std::nullopt;
  }
  const std::optional<Place> place = PlaceFor(shape, 1);
  if (!place) {
    return std::nullopt;
  }
  FlsmTask task{
      FlsmTask::Kind::kMergeLevel0, 0, {0}, 0, shape.level0_bytes, shape.level0_files, shape.level0_bytes};
  AddPlace(shape, *place, &task);
  return task;
}

// True if a level must be pushed: a greedy change asked for it, it is full with `level0_bytes` added, or it
// has no free slot. A level that waits for a slot would block all levels above it.
bool MustPush(const FlsmShape& shape, int number, uint64_t level0_bytes) {
  const FlsmLevel& level = shape.level(number);
  return level.push || IsFullLevel(shape, number, level0_bytes) || FreeAbove(shape, number) == 0;
}

// True if a level is pushed in files. A greedy change and a lack of slots push it as a whole.
bool PushesByFiles(const FlsmShape& shape, int number) {
  return shape.granularity == FlsmGranularity::kFiles && !shape.level(number).push &&
         FreeAbove(shape, number) > 0;
}

// Returns the push of a level; nullopt if it is not due or must wait.
std::optional<FlsmTask> Push(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (number == shape.deepest() || HasRun(level, RunUse::kLeaving)) {
    return std::nullopt;
  }
  const std::optional<Place> place = PlaceFor(shape, number + 1);
  if (!place) {
    return std::nullopt;
  }
  const bool pushes_level0 = number == 1 && PushesLevel0(shape, *place);
  if (!MustPush(shape, number, pushes_level0 ? shape.level0_bytes : 0)) {
    return std::nullopt;
  }
  const bool by_files = PushesByFiles(shape, number);
  if (by_files && HasRun(level, RunUse::kArriving)) {
    return std::nullopt;  // its size is not known before the arriving run is complete
  }
  FlsmTask task{by_files ? FlsmTask::Kind::kPushFiles : FlsmTask::Kind::kPush, number, {}, 0, 0, 0, 0};
  // From the oldest run on, since newer entries must not get below older ones. A run that is being written
  // stays.
  for (auto run = level.runs.rbegin(); run != level.runs.rend() && run->use == RunUse::kIdle; ++run) {
    task.inputs.insert(task.inputs.begin(), run->physical);
    task.bytes += run->bytes;
  }
  if (pushes_level0) {
    task.inputs.insert(task.inputs.begin(), 0);
    task.bytes += shape.level0_bytes;
    task.level0_files = shape.level0_files;
    task.level0_bytes = shape.level0_bytes;
  }
  if (task.inputs.empty()) {
    return std::nullopt;
  }
  AddPlace(shape, *place, &task);
  return task;
}

// Returns a move of the oldest run that has a free slot below it, if few slots are free above the newest run.
std::optional<FlsmTask> MoveDown(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (FreeAbove(shape, number) >= shape.size_ratio / 2 + 1 || HasRun(level, RunUse::kLeaving)) {
    return std::nullopt;
  }
  int below = shape.LastSlot(number) + 1;
  for (auto run = level.runs.rbegin(); run != level.runs.rend(); ++run) {
    if (run->physical < below - 1) {
      if (run->use != RunUse::kIdle) {
        return std::nullopt;
      }
      return FlsmTask{FlsmTask::Kind::kMoveDown, number, {run->physical}, below - 1, run->bytes, 0, 0};
    }
    below = run->physical;
  }
  return std::nullopt;
}

// Returns the number of runs that a level would have if all its data had arrived under its present policy, at
// least 1.
std::size_t TargetRuns(const FlsmShape& shape, int number) {
  const auto capacity = static_cast<double>(shape.Capacity(number));
  const double filled = std::min(1.0, static_cast<double>(shape.level(number).bytes()) / capacity);
  return static_cast<std::size_t>(std::max(1.0, std::ceil(filled * shape.Policy(number))));
}

// Seals the oldest runs beyond the policy and opens the others (RusKey, section 7). A push begins with no
// sealed run, but includes the files of sealed runs that it overlaps.
void SealExcessRuns(FlsmLevel* level) {
  const auto policy = static_cast<std::size_t>(level->policy);
  for (std::size_t age = 0; age < level->runs.size(); ++age) {
    level->runs[age].sealed = age >= policy;
  }
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
  if (shape->granularity == FlsmGranularity::kFiles) {
    SealExcessRuns(&level);
    return;
  }
  FlsmRun& newest = level.runs.front();
  newest.sealed = newest.sealed || (newest.use == RunUse::kIdle && IsFullRun(*shape, number, newest));
}

std::optional<FlsmTask> IdleTask(const FlsmShape& shape) {
  const auto is_idle = [](const FlsmLevel& level) {
    return !HasRun(level, RunUse::kLeaving) && !HasRun(level, RunUse::kArriving);
  };
  if (!std::all_of(shape.levels.begin(), shape.levels.end(), is_idle) || !DueTasks(shape).empty()) {
    return std::nullopt;
  }
  std::optional<FlsmTask> cheapest;
  for (int number = 1; number <= shape.deepest(); ++number) {
    const std::vector<FlsmRun>& runs = shape.level(number).runs;
    if (runs.size() <= TargetRuns(shape, number)) {
      continue;
    }
    for (std::size_t newer = 0; newer + 1 < runs.size(); ++newer) {
      const uint64_t bytes = runs[newer].bytes + runs[newer + 1].bytes;
      if (!cheapest || bytes < cheapest->bytes) {
        cheapest = FlsmTask{FlsmTask::Kind::kJoinFiles,
                            number,
                            {runs[newer].physical, runs[newer + 1].physical},
                            runs[newer + 1].physical,
                            bytes,
                            0,
                            0};
      }
    }
  }
  return cheapest;
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
  // Deepest level first: a run that is leaving makes room for the run that arrives, which then need not wait.
  for (int number = shape.deepest(); number >= 1; --number) {
    add(Push(rest, number));
    add(MoveDown(rest, number));
  }
  add(MergeLevel0(rest));
  // Most urgent first: level 0 must not wait.
  std::reverse(due.begin(), due.end());
  return due;
}

}  // namespace rocktune
