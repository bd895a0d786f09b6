#pragma once

#include <optional>
#include <vector>

#include "rocktune/flsm/flsm_task.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// The compaction policy of an FLSM-tree as pure functions of its shape: no I/O, no clock, nothing remembered
// (sections 4 and 7 of the paper).

// Sets a level's policy. A flexible change to more runs seals the newest one if it is too large for its new
// capacity; one to fewer lets it grow. With files one to fewer seals the oldest ones that are too many, and
// one to more makes room for new ones. REQUIRES: 1 <= policy <= T; not lazy with files, where no level ever
// goes as a whole.
void SetPolicy(FlsmShape* shape, int level, int policy, FlsmTransition transition);

// The tasks that may begin now, none of which is in another's way, most urgent first. What is in work already
// is told by the runs' uses. Empty when there is nothing to do but wait.
std::vector<FlsmTask> DueTasks(const FlsmShape& shape);

// What a store that only reads arrive at can do to get nearer to its policies, for a flexible change waits
// for writes: joins two runs of a level that has more than its policy would have made of what it holds, those
// that are the cheapest to join. Nothing while anything is due or in work.
std::optional<FlsmTask> IdleTask(const FlsmShape& shape);

}  // namespace rocktune
