#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// An FLSM-tree without data. It follows the policy of the real store, with tasks that take no time.
//
// It assumes that entries never overwrite each other, and that every run spreads its bytes evenly over the
// keys. A push of files then takes the same share of each run that it uses. Not thread-safe. Throws no
// exception.
class FlsmSimulator {
 public:
  // `shape` is an empty tree with all its levels. `buffer_bytes` is the size of a memtable, above 0. `moves`
  // is true if a run that goes to an empty place is moved without rewriting, as HasTrivialMove says of
  // RocksDB.
  FlsmSimulator(FlsmShape shape, uint64_t buffer_bytes, bool moves = true);

  // Writes `bytes` of entries. Flushes whenever the memtable is full, and then does all due tasks.
  void Write(uint64_t bytes);
  // Changes a level's policy, and does all due tasks. REQUIRES: CheckPolicyChange accepts the change.
  void SetPolicy(int level, int policy, FlsmTransition transition);

  // Returns the present shape.
  const FlsmShape& shape() const { return shape_; }
  // Return the bytes that compactions read, and that flushes and compactions wrote.
  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return written_bytes_; }
  // Returns the bytes given to Write.
  uint64_t user_bytes() const { return user_bytes_; }
  // Returns the bytes that compactions into each level read and wrote, summed, from level 1 on.
  const std::vector<uint64_t>& level_bytes() const { return level_bytes_; }
  // Returns written bytes over user bytes, without the WAL; 0 before the first write.
  double WriteAmplification() const;
  // Returns the number of sorted runs, level-0 files included. A lookup of an absent key reads the filter of
  // each.
  int Runs() const;

 private:
  // Does due tasks, most urgent first, until none is due.
  void RunDueTasks();
  // Completes a push by files that has begun.
  void PushFiles(const FlsmTask& task);
  // Counts a compaction into a level that reads `bytes` and writes as many.
  void CountCompaction(int level, uint64_t bytes);

  FlsmShape shape_;
  const uint64_t buffer_bytes_;
  const bool moves_;
  uint64_t buffered_bytes_ = 0;
  uint64_t user_bytes_ = 0;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
  std::vector<uint64_t> level_bytes_;
};

}  // namespace rocktune
