#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rocktune/trace/key_counts.h"
#include "rocktune/workload/random.h"
#include "rocktune/workload/trace_file.h"

namespace rocktune {

// Numbers of operations, indexed by OperationKind.
using KindCounts = std::array<uint64_t, kOperationKindCount>;

// Returns the operations of all families.
KindCounts CountsOf(const TraceSummary& summary);
// Returns the keys of all families.
uint64_t KeysOf(const TraceSummary& summary);
// Returns a number that no other key of any family has.
inline uint64_t KeyCode(uint32_t family, uint64_t key) { return uint64_t{family} << 40 | key; }

// Decides which keys and operations are in a sample; see SampleTrace. `counts` must outlive it. Immutable.
class SampleChoice {
 public:
  // `counts` has the operations of the file's keys, by KeyCode.
  SampleChoice(const TraceFile& file, uint64_t scale, const KeyCounts& counts);

  uint64_t block_keys() const { return uint64_t{1} << block_bits_; }
  // Returns the operations of the sample.
  const KindCounts& kept() const { return kept_; }

  // The following functions take a key's KeyCode.
  bool IsHot(uint64_t code) const { return counts_.CountOf(code) > hot_operations_; }
  bool HasKey(uint64_t code) const { return IsHot(code) || HasBlock(code, salt_); }
  // `number` is that of the operation in the whole trace.
  bool HasOperation(uint64_t code, uint64_t number) const {
    return IsHot(code) ? Mix64(~number) < threshold_ : HasBlock(code, salt_);
  }

  // Returns true if the sample has a range delete, which is that with this number: it has a key of the
  // range. For a range of hot keys alone, that holds for one of S operations. A range without keys counts as
  // the place where it lies.
  bool HasRange(const TraceOperation& range, uint64_t number) const {
    return HasBlockOf(range, salt_) || HasHotRange(range, number);
  }

 private:
  bool HasBlockOf(const TraceOperation& range, uint64_t salt) const;
  bool HasHotRange(const TraceOperation& range, uint64_t number) const;
  bool HasBlock(uint64_t code, uint64_t salt) const {
    return Mix64(Mix64(code >> block_bits_) + salt * 0x9e3779b97f4a7c15ULL) < threshold_;
  }
  void ChooseSalt(const TraceFile& file);
  struct Profile;
  // Adds a range delete to the profile of the whole, and to those of the samples by salt that have it.
  void AddRange(const TraceOperation& range, uint64_t number, Profile* whole,
                std::vector<Profile>* samples) const;

  const uint64_t scale_;
  const uint64_t threshold_;  // a hash below it is in the sample
  const int block_bits_;
  const uint64_t hot_operations_;
  const KeyCounts& counts_;
  uint64_t salt_ = 0;
  KindCounts kept_{};
};

}  // namespace rocktune
