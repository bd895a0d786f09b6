#pragma once

#include <rocksdb/env.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/status.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rocktune/flsm_shape.h"
#include "rocktune/flsm_statistics.h"
#include "rocktune/util/sharded_counts.h"

namespace rocktune {

class FlsmRecorder;

// One family's part of an operation on several families.
struct FlsmShare {
  FlsmRecorder* recorder = nullptr;
  uint64_t represented = 0;  // operations that the part stands for
  double busy_factor = 0;    // the duration times this is the family's time
};

// Records the statistics of a column family of an FlsmStore, at so low a cost that it can stay on.
//
// Lookups are counted. One in `sample_every` is measured with RocksDB's PerfContext, whose figures and level
// are restored for the thread; a thread that uses PerfContext itself has that lookup timed only. One write in
// `sample_every` is timed. Keys of one MultiGet count as that many lookups: if one of them is to be sampled,
// all are measured together, and the figures are scaled. The time of an operation on several families is
// divided among them; their figures by level leave it out, since RocksDB adds up all families' levels.
//
// Does not own the Env. Thread-safe without locks. Throws no exception of its own.
class FlsmRecorder {
 public:
  // With a `sample_every` of 0, no lookup, write or iterator is recorded. `slots` is the shape's. Durations
  // are by the clock of `env`, the database's, which must outlive the recorder. `merges` is the number of
  // running merges, shared by all families of a store: one family's merge makes the others' clients wait,
  // too.
  FlsmRecorder(rocksdb::Env* env, uint64_t sample_every, int slots, std::shared_ptr<std::atomic<int>> merges)
      : merges_(std::move(merges)), env_(env), sample_every_(sample_every), slots_(slots) {}

  // Calls `get`, which looks one key up and returns its status, and records it. Returns that status.
  template <typename Get>
  rocksdb::Status Lookup(const Get& get);
  // Calls `get`, which looks `keys` keys up together and returns the number found, and records it.
  template <typename Get>
  void Lookups(uint64_t keys, const Get& get);
  // Calls `write`, which returns its status, and records it. Returns that status.
  template <typename Operation>
  rocksdb::Status Write(const Operation& write);
  // Counts lookups without measuring them, and returns how many lookups the sampled ones among them stand
  // for.
  uint64_t CountLookups(uint64_t keys);
  // Counts lookups that found their keys.
  void CountFound(uint64_t found) {
    if (sample_every_ > 0) {
      counts_.Add(kFound, found);
    }
  }
  // Returns the number of writes that the next one stands for; 0 if it is not sampled.
  uint64_t SampleWrite();
  // Performs an operation on several families, and records each one's share of it.
  template <typename Operation>
  static void TimeShared(const std::vector<FlsmShare>& shares, const Operation& operation);
  // Records that `count` iterators are created. `shape` returns the present tree; it is called only if one of
  // the iterators is sampled.
  template <typename Shape>
  void CountIterators(uint64_t count, const Shape& shape);
  // Adds time that callers spent in iterators.
  void AddBusy(uint64_t nanoseconds) {
    if (sample_every_ > 0) {
      counts_.Add(IndexOf(kBusyNs, IsQuiet()), nanoseconds);
    }
  }
  // Marks that a merge runs, for its lifetime. Operations meanwhile count as FlsmStatistics::merging.
  class ScopedMerge {
   public:
    explicit ScopedMerge(FlsmRecorder* recorder) : recorder_(recorder) { ++*recorder_->merges_; }
    ~ScopedMerge() { --*recorder_->merges_; }
    ScopedMerge(const ScopedMerge&) = delete;
    ScopedMerge& operator=(const ScopedMerge&) = delete;

   private:
    FlsmRecorder* const recorder_;
  };
  // Records a successful compaction whose output is in a logical level.
  void CountCompaction(int level, uint64_t read_bytes, uint64_t written_bytes, uint64_t took_us);

  // Adds the entries of a memtable that takes no more.
  void CountSealed(uint64_t entries) { sealed_entries_ += entries; }
  // Returns the entries of all memtables, given the number of those in the present one. Never shrinks, and
  // lags for the moment in which a memtable is sealed.
  uint64_t Entries(uint64_t in_memtable);

  // Records a flush by the size of its table.
  void CountFlush(uint64_t bytes) { flushed_bytes_ += bytes; }

  // Returns the statistics of level 0 and `levels` levels. entries_written is 0; the database knows it.
  FlsmStatistics Statistics(int levels) const;

 private:
  // The fields of FlsmServed, and below all counts. The fields occur twice there: quiet and merging.
  enum Served : std::size_t { kOperations, kBusyNs, kPassed, kReadNs, kScanned, kServedCounts };
  enum Count : std::size_t {
    kLookups,
    kFound,
    kIterators,
    kQuiet,  // the first field of `quiet`
    kMerging = kQuiet + std::size_t{kServedCounts},
    kCounts = kMerging + std::size_t{kServedCounts}
  };

  // True if no merge runs.
  bool IsQuiet() const { return merges_->load(std::memory_order_relaxed) == 0; }
  // Returns the index of a field of FlsmStatistics::quiet or, if not `quiet`, of FlsmStatistics::merging.
  static constexpr std::size_t IndexOf(Served served, bool quiet) {
    return std::size_t{quiet ? kQuiet : kMerging} + std::size_t{served};
  }

  // Scales a measurement of operations that are performed together to those that it represents.
  //
  struct Weight {
    uint64_t represented = 0;  // operations; a multiple of sample_every, 0 if none is sampled
    uint64_t performed = 0;    // operations, above 0
    // Returns the figure of the represented operations, rounded, from that of the performed ones.
    uint64_t Estimate(uint64_t measured) const {
      return (measured * represented + performed / 2) / performed;
    }
  };

  // True if the thread has switched on more of PerfContext than RocksDB's default, so that we leave it alone.
  static bool ThreadUsesPerfContext();
  // Records the runs visible to `samples` sampled iterators.
  void CountScanned(const FlsmShape& shape, uint64_t samples);

  // A measurement of one lookup, by level, for the object's lifetime. The destructor records it and restores
  // the thread's PerfContext and perf level.
  class Sample {
   public:
    // Saves the thread's PerfContext and switches it on by level.
    Sample(FlsmRecorder* recorder, Weight weight);
    ~Sample();
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;

   private:
    FlsmRecorder* const recorder_;
    const Weight weight_;
    const bool was_quiet_;
    const rocksdb::PerfContext saved_context_;
    const rocksdb::PerfLevel saved_level_;
  };

  // Operations of a thread until the next sample, by recorder. A number for all recorders would let a thread
  // that alternates between two families sample only one of them.
  static constexpr std::size_t kSamplers = 32;
  using UntilSample = std::array<uint64_t, kSamplers>;
  // Returns the place of a new recorder in UntilSample. Recorders beyond kSamplers share places.
  static std::size_t NextSampler();

  using Level = FlsmLevelCounts<std::atomic<uint64_t>>;
  // Returns the counts of the logical level to which a physical level belongs.
  Level& LevelOf(int physical) {
    return levels_[physical == 0 ? 0 : static_cast<std::size_t>(1 + (physical - 1) / slots_)];
  }

  // Returns how many of `operations`, performed together, are sampled: every sample_every-th of the thread,
  // from the first on. `until` is the thread's state for one kind of operation.
  uint64_t CountSamples(uint64_t operations, UntilSample* until) const {
    if (sample_every_ == 0) {
      return 0;
    }
    uint64_t* until_sample = &(*until)[sampler_];
    // Another recorder at this place may have a larger interval.
    *until_sample = *until_sample < sample_every_ ? *until_sample : 0;
    if (*until_sample >= operations) {
      *until_sample -= operations;
      return 0;
    }
    const uint64_t after_first = operations - 1 - *until_sample;
    *until_sample = sample_every_ - 1 - after_first % sample_every_;
    return 1 + after_first / sample_every_;
  }
  // Returns the weight of `operations` performed together, of which `samples` are sampled.
  Weight WeightOf(uint64_t samples, uint64_t operations) const {
    return {samples * sample_every_, operations};
  }
  // Performs an operation, and records its duration.
  template <typename Operation>
  void Time(Weight weight, const Operation& operation);

  ShardedCounts<kCounts> counts_;
  const std::shared_ptr<std::atomic<int>> merges_;  // running merges
  std::atomic<uint64_t> sealed_entries_{0};         // of memtables that take no more
  std::atomic<uint64_t> reported_entries_{0};       // maximum of what Entries has returned
  std::atomic<uint64_t> flushed_bytes_{0};
  const std::size_t sampler_ = NextSampler();
  rocksdb::Env* const env_;
  const uint64_t sample_every_;
  std::array<Level, kMaxFlsmLevels + 1> levels_;  // [0] is RocksDB's level 0
  const int slots_;
};

template <typename Operation>
void FlsmRecorder::Time(Weight weight, const Operation& operation) {
  const bool was_quiet = IsQuiet();
  const uint64_t begun_ns = env_->NowNanos();
  operation();
  const uint64_t took_ns = env_->NowNanos() - begun_ns;
  const bool quiet = was_quiet && IsQuiet();
  counts_.Add(IndexOf(kOperations, quiet), weight.represented);
  counts_.Add(IndexOf(kBusyNs, quiet), weight.Estimate(took_ns));
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
  thread_local UntilSample until{};
  const Weight weight = WeightOf(CountSamples(keys, &until), keys);
  uint64_t found = 0;
  const auto look_up = [&get, &found] { found = get(); };
  if (weight.represented == 0) {
    look_up();
  } else if (ThreadUsesPerfContext()) {
    Time(weight, look_up);
  } else {
    const Sample sample(this, weight);
    Time(weight, look_up);
  }
  counts_.Add(kLookups, keys);
  counts_.Add(kFound, found);
}

template <typename Operation>
void FlsmRecorder::TimeShared(const std::vector<FlsmShare>& shares, const Operation& operation) {
  if (shares.empty()) {
    operation();
    return;
  }
  rocksdb::Env* env = shares.front().recorder->env_;
  const bool was_quiet = shares.front().recorder->IsQuiet();
  const uint64_t begun_ns = env->NowNanos();
  operation();
  const uint64_t took_ns = env->NowNanos() - begun_ns;
  for (const FlsmShare& share : shares) {
    const bool quiet = was_quiet && share.recorder->IsQuiet();
    share.recorder->counts_.Add(IndexOf(kOperations, quiet), share.represented);
    const double busy_ns = static_cast<double>(took_ns) * share.busy_factor;
    share.recorder->counts_.Add(IndexOf(kBusyNs, quiet), static_cast<uint64_t>(busy_ns));
  }
}

template <typename Shape>
void FlsmRecorder::CountIterators(uint64_t count, const Shape& shape) {
  if (sample_every_ == 0) {
    return;
  }
  thread_local UntilSample until{};
  counts_.Add(kIterators, count);
  counts_.Add(IndexOf(kOperations, IsQuiet()), count);
  if (const uint64_t samples = CountSamples(count, &until); samples > 0) {
    CountScanned(shape(), samples);
  }
}

template <typename Operation>
rocksdb::Status FlsmRecorder::Write(const Operation& write) {
  if (SampleWrite() == 0) {
    return write();
  }
  rocksdb::Status status;
  Time(WeightOf(1, 1), [&write, &status] { status = write(); });
  return status;
}

}  // namespace rocktune
