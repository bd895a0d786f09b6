#pragma once

#include <rocksdb/env.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/status.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocktune/flsm_shape.h"
#include "rocktune/flsm_statistics.h"
#include "rocktune/util/sharded_counts.h"

namespace rocktune {

// Gathers statistics, so cheaply that they can stay on: lookups are counted, and one of `sample_every` is
// looked at closely with RocksDB's PerfContext, which the thread gets back as it was; a thread that uses more
// of that than RocksDB's default does is only timed. Of writes one of as many is timed. Keys that are looked
// up together are as many lookups; where one of them is to be looked at, all are, and count for less each.
// Thread-safe.
class FlsmRecorder {
 public:
  // `sample_every` 0 records no lookup, no write and no iterator. `slots` is the shape's. Time is that of the
  // database's `env`, as all of RocksDB's; it must outlive the recorder.
  FlsmRecorder(rocksdb::Env* env, uint64_t sample_every, int slots)
      : env_(env), sample_every_(sample_every), slots_(slots) {}

  // Does a lookup: `get` returns its status.
  template <typename Get>
  rocksdb::Status Lookup(const Get& get);
  // Looks so many keys up together: `get` returns how many of them were there.
  template <typename Get>
  void Lookups(uint64_t keys, const Get& get);
  // Does a write: `write` returns its status.
  template <typename Operation>
  rocksdb::Status Write(const Operation& write);
  // Iterators are made. `shape` returns the tree that they go through; it is called for one of
  // `sample_every`.
  template <typename Shape>
  void CountIterators(uint64_t count, const Shape& shape);
  void AddBusy(uint64_t nanoseconds) {
    if (sample_every_ > 0) {
      counts_.Add(OfState(kBusyNs, IsQuiet()), nanoseconds);
    }
  }
  // A compaction that moves more than names goes on, from beginning to end.
  class Merge {
   public:
    explicit Merge(FlsmRecorder* recorder) : recorder_(recorder) { ++recorder_->merges_; }
    ~Merge() { --recorder_->merges_; }
    Merge(const Merge&) = delete;
    Merge& operator=(const Merge&) = delete;

   private:
    FlsmRecorder* const recorder_;
  };
  // A compaction whose output is in a logical level has ended well.
  void CountCompaction(int level, uint64_t read_bytes, uint64_t written_bytes, uint64_t took_us);

  // All but the entries written, which the database knows, for so many levels and RocksDB's level 0.
  FlsmStatistics Take(int levels) const;

 private:
  enum Served : std::size_t { kOperations, kBusyNs, kPassed, kReadNs, kScanned, kServedCounts };
  enum Count : std::size_t {
    kLookups,
    kFound,
    kIterators,
    kQuiet,  // the first of FlsmServed's
    kMerging = kQuiet + std::size_t{kServedCounts},
    kCounts = kMerging + std::size_t{kServedCounts}
  };

  bool IsQuiet() const { return merges_.load(std::memory_order_relaxed) == 0; }
  static constexpr std::size_t OfState(Served served, bool quiet) {
    return std::size_t{quiet ? kQuiet : kMerging} + std::size_t{served};
  }

  // So many samples were taken of operations that are done at once, of each of which a part is told.
  struct Weight {
    uint64_t stands_for = 0;  // operations
    uint64_t done = 0;
    uint64_t Of(uint64_t told) const { return (told * stands_for + done / 2) / done; }
  };

  static bool ThreadUsesPerfContext();
  void CountScanned(const FlsmShape& shape, uint64_t samples);

  // The view of the levels of keys that are looked up together. Puts the thread's own settings and figures
  // back when it ends.
  class Sample {
   public:
    Sample(FlsmRecorder* recorder, Weight weight);
    ~Sample();
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;

   private:
    FlsmRecorder* const recorder_;
    const Weight weight_;
    const bool was_quiet_;
    const rocksdb::PerfContext own_;
    const rocksdb::PerfLevel own_level_;
  };

  using Level = FlsmLevelCounts<std::atomic<uint64_t>>;
  Level& OfPhysical(int physical) {
    return levels_[physical == 0 ? 0 : static_cast<std::size_t>(1 + (physical - 1) / slots_)];
  }

  // Counts a thread's operations of one kind, of whatever store, that are done at once; says how many of them
  // are to be looked at: one of every so many, beginning with the first.
  uint64_t Samples(uint64_t operations, uint64_t* until_sample) const {
    if (sample_every_ == 0) {
      return 0;
    }
    *until_sample = *until_sample < sample_every_ ? *until_sample : 0;
    if (*until_sample >= operations) {
      *until_sample -= operations;
      return 0;
    }
    const uint64_t after_first = operations - 1 - *until_sample;
    *until_sample = sample_every_ - 1 - after_first % sample_every_;
    return 1 + after_first / sample_every_;
  }
  Weight WeightOf(uint64_t samples, uint64_t operations) const {
    return {samples * sample_every_, operations};
  }
  template <typename Operation>
  void Timed(Weight weight, const Operation& operation);

  ShardedCounts<kCounts> counts_;
  std::atomic<int> merges_{0};  // that go on
  rocksdb::Env* const env_;
  const uint64_t sample_every_;
  std::array<Level, kMaxFlsmLevels + 1> levels_;
  const int slots_;
};

template <typename Operation>
void FlsmRecorder::Timed(Weight weight, const Operation& operation) {
  const bool was_quiet = IsQuiet();
  const uint64_t begun_ns = env_->NowNanos();
  operation();
  const uint64_t took_ns = env_->NowNanos() - begun_ns;
  const bool quiet = was_quiet && IsQuiet();
  counts_.Add(OfState(kOperations, quiet), weight.stands_for);
  counts_.Add(OfState(kBusyNs, quiet), weight.Of(took_ns));
}

template <typename Get>
rocksdb::Status FlsmRecorder::Lookup(const Get& get) {
  rocksdb::Status status;
  Lookups(1, [&get, &status] {
    status = get();
    return uint64_t{status.ok() ? 1U : 0U};
  });
  return status;
}

template <typename Get>
void FlsmRecorder::Lookups(uint64_t keys, const Get& get) {
  if (sample_every_ == 0) {
    get();
    return;
  }
  thread_local uint64_t until_sample = 0;
  const Weight weight = WeightOf(Samples(keys, &until_sample), keys);
  uint64_t found = 0;
  const auto look_up = [&get, &found] { found = get(); };
  if (weight.stands_for == 0) {
    look_up();
  } else if (ThreadUsesPerfContext()) {
    Timed(weight, look_up);
  } else {
    const Sample sample(this, weight);
    Timed(weight, look_up);
  }
  counts_.Add(kLookups, keys);
  counts_.Add(kFound, found);
}

template <typename Shape>
void FlsmRecorder::CountIterators(uint64_t count, const Shape& shape) {
  if (sample_every_ == 0) {
    return;
  }
  thread_local uint64_t until_sample = 0;
  counts_.Add(kIterators, count);
  counts_.Add(OfState(kOperations, IsQuiet()), count);
  if (const uint64_t samples = Samples(count, &until_sample); samples > 0) {
    CountScanned(shape(), samples);
  }
}

template <typename Operation>
rocksdb::Status FlsmRecorder::Write(const Operation& write) {
  thread_local uint64_t until_sample = 0;
  if (sample_every_ == 0 || Samples(1, &until_sample) == 0) {
    return write();
  }
  rocksdb::Status status;
  Timed(WeightOf(1, 1), [&write, &status] { status = write(); });
  return status;
}

}  // namespace rocktune
