#pragma once

#include <rocksdb/io_status.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace rocktune {

// Repeated operations of one kind, for MeasureRate and MeasureMedian.
struct TimedWork {
  std::function<rocksdb::IOStatus()> step;  // performs one operation
  uint64_t step_amount = 1;                 // amount of one operation, in any unit
  uint64_t max_steps = 0;                   // maximum number of operations; 0 means no limit
};

// A function that is called about twice a second with the seconds that have passed.
using Elapsed = std::function<void(double elapsed_s)>;

// Repeats each work in a thread of its own, at least once. Stops after `seconds`, or once one of them has
// made its maximum number of steps; steps under way are finished and count. Stores in `*amount_per_s` the
// amount per second of all together. Returns the first status that is not OK; all threads stop then.
// REQUIRES: `works` is not empty.
rocksdb::IOStatus MeasureRate(const std::vector<TimedWork>& works, double seconds, const Elapsed& elapsed,
                              double* amount_per_s);

// Repeats `work` on the calling thread for `seconds`, at least once and at most `max_steps` times.
// Stores the median duration of a step in `*median_us`. Returns the first status that is not OK.
rocksdb::IOStatus MeasureMedian(const TimedWork& work, double seconds, const Elapsed& elapsed,
                                double* median_us);

}  // namespace rocktune
