#pragma once

#include <optional>
#include <vector>

#include "rocktune/flsm/flsm_task.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// The compaction policy of an FLSM-tree (RusKey, sections 4 and 7) as pure functions of its shape: no I/O, no
// clock, no state of their own. They throw no exception.

// Sets a level's policy, from 1 to T.
// - kFlexible with whole levels (RusKey, section 4.2): seals the newest run if it has its new share already.
//   Otherwise the run stays open, and its capacity is the new one.
// - kFlexible with files (section 7): leaves as many runs open as the policy has, from the newest on, and
//   seals the older ones.
// - kGreedy makes the level due for a push.
// - kLazy takes effect with the level's next push. REQUIRES: FlsmGranularity::kLevels; with files a level
//   never leaves as a whole.
// Every transition of an empty level takes effect at once.
void SetPolicy(FlsmShape* shape, int level, int policy, FlsmTransition transition);

// Returns the tasks that may begin now, most urgent first. No two of them use the same run, and none uses a
// run that a running task uses. Returns no task if there is nothing to do or running tasks must end first.
std::vector<FlsmTask> DueTasks(const FlsmShape& shape);

// Returns a merge that moves a store without writes towards its policies, or nullopt while any compaction is
// due or running. A flexible policy change takes effect only as data arrives, so an idle level can keep too
// many runs. Picks the adjacent pair of runs that is cheapest to merge.
std::optional<FlsmTask> IdleTask(const FlsmShape& shape);

}  // namespace rocktune
