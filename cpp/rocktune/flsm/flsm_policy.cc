#include "rocktune/flsm/flsm_policy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace rocktune {
namespace {

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
  std::vector<int> with;  // the runs that are merged with it, from the newest on
  int output = 0;
};

// A run of its own; nowhere if there is no room for it.
std::optional<Place> NewRun(const FlsmShape& shape, int number) {
  if (FreeAbove(shape, number) == 0) {
    return std::nullopt;
  }
  const FlsmLevel& level = shape.level(number);
  return Place{{}, level.runs.empty() ? shape.LastSlot(number) : level.runs.front().physical - 1};
}

// The deepest level cannot go further down, so that it takes in what comes whatever the policy says.
bool HasNoWayOut(const FlsmShape& shape, int number) {
  return number == shape.deepest() && FreeAbove(shape, number) == 0;
}

// With whole levels: into the newest run unless that is sealed, or leaves.
std::optional<Place> PlaceInLevel(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (level.runs.empty()) {
    return NewRun(shape, number);
  }
  const FlsmRun& newest = level.runs.front();
  if (newest.use == RunUse::kArriving) {
    return std::nullopt;
  }
  if (newest.use == RunUse::kIdle && (!newest.sealed || HasNoWayOut(shape, number))) {
    // The only run of its level can go as far down as there is room, which keeps room above it.
    return Place{{newest.physical}, level.runs.size() == 1 ? shape.LastSlot(number) : newest.physical};
  }
  return NewRun(shape, number);
}

// With files: into the newest run if it has room; else into a new one while the policy has fewer; else into
// the newest of the others that pushes have made room in, with all above it, or what is newer would lie
// below.
std::optional<Place> PlaceAmongFiles(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (level.runs.empty()) {
    return NewRun(shape, number);
  }
  if (!std::all_of(level.runs.begin(), level.runs.end(),
                   [](const FlsmRun& run) { return run.use == RunUse::kIdle; })) {
    // Level 0 waits for nothing that leaves.
    return number == 1 && !Any(level, RunUse::kArriving) ? NewRun(shape, number) : std::nullopt;
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

// Nowhere while the newest run is being written, or where there is no room above it.
std::optional<Place> PlaceIn(const FlsmShape& shape, int number) {
  return shape.granularity == FlsmGranularity::kFiles ? PlaceAmongFiles(shape, number)
                                                      : PlaceInLevel(shape, number);
}

// Adds what a task merges with in the level where its output goes.
void AddPlace(const FlsmShape& shape, const Place& place, FlsmTask* task) {
  task->output = place.output;
  for (const FlsmRun& run : shape.level(task->OutputLevel()).runs) {
    if (std::find(place.with.begin(), place.with.end(), run.physical) != place.with.end()) {
      task->inputs.push_back(run.physical);
      task->bytes += run.bytes;
    }
  }
}

// Whether level 0's files go along when level 1 is pushed, into a run of their own below. Where they would be
// merged with what is there, which may be ten times as much, level 0 would be held up as long as that takes.
bool Level0GoesAlong(const FlsmShape& shape, const Place& below) {
  const std::vector<FlsmRun>& runs = shape.level(1).runs;
  return shape.granularity == FlsmGranularity::kLevels && shape.max_level0_files > 0 &&
         shape.level0_files > 0 && !shape.level0_busy && below.with.empty() &&
         std::all_of(runs.begin(), runs.end(), [](const FlsmRun& run) { return run.use == RunUse::kIdle; });
}

// Whether level 0's files stay where they are. What was flushed is a run already: as one of level 1's it need
// not be written again before level 1 has more than its policy allows, or is full and has to be merged with
// what lies below. With files level 1 is always full.
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
  const std::optional<Place> below = PlaceIn(shape, 2);
  return below && Level0GoesAlong(shape, *below);
}

std::optional<FlsmTask> TakeIn(const FlsmShape& shape) {
  if (shape.level0_files == 0 || shape.level0_busy || Level0Waits(shape)) {
    return std::nullopt;
  }
  const std::optional<Place> place = PlaceIn(shape, 1);
  if (!place) {
    return std::nullopt;
  }
  FlsmTask task{FlsmTask::Kind::kTakeIn, 0, {0}, 0, shape.level0_bytes, shape.level0_files,
                shape.level0_bytes};
  AddPlace(shape, *place, &task);
  return task;
}

// Whether a level's runs have to go, because it is full with what goes along, because someone wants it, or
// because runs have crept up to where the next ones would find no room: a level that waits for room holds up
// all above it.
bool MustGo(const FlsmShape& shape, int number, uint64_t along_bytes) {
  const FlsmLevel& level = shape.level(number);
  return level.push || IsFullLevel(shape, number, along_bytes) || FreeAbove(shape, number) == 0;
}

// Whether a level goes file by file; all of it goes at once where it is wanted so, or has no room.
bool GoesByFiles(const FlsmShape& shape, int number) {
  return shape.granularity == FlsmGranularity::kFiles && !shape.level(number).push &&
         FreeAbove(shape, number) > 0;
}

std::optional<FlsmTask> Push(const FlsmShape& shape, int number) {
  const FlsmLevel& level = shape.level(number);
  if (number == shape.deepest() || Any(level, RunUse::kLeaving)) {
    return std::nullopt;
  }
  const std::optional<Place> place = PlaceIn(shape, number + 1);
  if (!place) {
    return std::nullopt;
  }
  const bool with_level0 = number == 1 && Level0GoesAlong(shape, *place);
  if (!MustGo(shape, number, with_level0 ? shape.level0_bytes : 0)) {
    return std::nullopt;
  }
  const bool by_files = GoesByFiles(shape, number);
  if (by_files && Any(level, RunUse::kArriving)) {
    return std::nullopt;  // it would look full with what is on its way out of it only after that
  }
  FlsmTask task{by_files ? FlsmTask::Kind::kPushFiles : FlsmTask::Kind::kPush, number, {}, 0, 0, 0, 0};
  // From the oldest on, for nothing newer may come to lie below. What is arriving stays.
  for (auto run = level.runs.rbegin(); run != level.runs.rend() && run->use == RunUse::kIdle; ++run) {
    task.inputs.insert(task.inputs.begin(), run->physical);
    task.bytes += run->bytes;
  }
  if (with_level0) {
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

// How many runs a level would have if all that it holds had come under its policy, at least 1.
std::size_t RunsWanted(const FlsmShape& shape, int number) {
  const auto capacity = static_cast<double>(shape.Capacity(number));
  const double filled = std::min(1.0, static_cast<double>(shape.level(number).bytes()) / capacity);
  return static_cast<std::size_t>(std::max(1.0, std::ceil(filled * shape.Policy(number))));
}

// Seals the oldest runs that are too many: they go along with what others push, and push nothing themselves.
void SealWhatIsTooMany(FlsmLevel* level) {
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
    SealWhatIsTooMany(&level);
    return;
  }
  FlsmRun& newest = level.runs.front();
  newest.sealed = newest.sealed || (newest.use == RunUse::kIdle && IsFullRun(*shape, number, newest));
}

std::optional<FlsmTask> IdleTask(const FlsmShape& shape) {
  const auto rests = [](const FlsmLevel& level) {
    return !Any(level, RunUse::kLeaving) && !Any(level, RunUse::kArriving);
  };
  if (!std::all_of(shape.levels.begin(), shape.levels.end(), rests) || !DueTasks(shape).empty()) {
    return std::nullopt;
  }
  std::optional<FlsmTask> cheapest;
  for (int number = 1; number <= shape.deepest(); ++number) {
    const std::vector<FlsmRun>& runs = shape.level(number).runs;
    if (runs.size() <= RunsWanted(shape, number)) {
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
  // The deepest first: what leaves a level makes way for what comes into it, which then need not wait for it.
  for (int number = shape.deepest(); number >= 1; --number) {
    add(Push(rest, number));
    add(Rehome(rest, number));
  }
  add(TakeIn(rest));
  std::reverse(due.begin(), due.end());
  return due;
}

}  // namespace rocktune
