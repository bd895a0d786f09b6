#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// An FLSM-tree without data: the same policy, with tasks that take no time. Entries never overwrite each
// other, and every run spreads its bytes evenly over the keys, so that a push of files takes the same share
// of each run that it uses.
//
// Not thread-safe.
class FlsmSimulator {
 public:
  // `shape` is the empty tree, with as many levels as it shall ever have. `moves` is whether a run that goes
  // to an empty place is not written anew (see HasTrivialMove).
  FlsmSimulator(FlsmShape shape, uint64_t buffer_bytes, bool moves = true);

  // Writes so many bytes; whenever a buffer is full it is flushed, and all that is due is done.
  void Write(uint64_t bytes);
  void SetPolicy(int level, int policy, FlsmTransition transition);

  const FlsmShape& shape() const { return shape_; }
  // Bytes that compactions have read and written; what was flushed counts as written.
  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return written_bytes_; }
  uint64_t user_bytes() const { return user_bytes_; }
  // Bytes that compactions into each level have read and written, from the first level.
  const std::vector<uint64_t>& level_bytes() const { return level_bytes_; }
  double WriteAmplification() const;
  // Sorted runs, of which a lookup of an absent key looks at every one's filter.
  int Runs() const;

 private:
  void Work();
  void PushFiles(const FlsmTask& task);
  void Count(int level, uint64_t bytes);

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
