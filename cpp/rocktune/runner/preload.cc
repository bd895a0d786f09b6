#include "rocktune/runner/preload.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/runner/run_error.h"
#include "rocktune/util/thread_role.h"
#include "rocktune/workload/permutation.h"
#include "rocktune/workload/random.h"
#include "rocktune/workload/size_source.h"

namespace rocktune {
namespace {

constexpr uint64_t kBatchEntries = 128;
constexpr std::size_t kBatchBytes = 256 << 10;
constexpr uint64_t kMaxThreads = 4;

// Writes the entries of a preload. LoadShare may run on several threads at the same time.
class Loader {
 public:
  Loader(const WorkloadSpec& spec, uint64_t seed, const ValueSource& values, Store* store)
      : spec_(spec),
        seed_(seed),
        values_(values),
        sizes_(spec.value),
        order_(spec.preload.keys, seed),
        store_(store) {}

  // Writes every `threads`-th key, from the key `thread` on. Throws RunError if the store fails.
  void LoadShare(uint64_t thread, uint64_t threads) {
    const ScopedThreadRole role(ThreadRole::kUser);
    rocksdb::WriteBatch batch;
    std::string key;
    for (uint64_t i = thread; i < spec_.preload.keys; i += threads) {
      const uint64_t index = spec_.preload.random_order ? order_(i) : i;
      // Seeded by the key, so that an entry does not depend on the number of threads.
      Random random(seed_ ^ Mix64(index));
      const uint64_t bytes = sizes_.Next(&random);
      EncodeKey(index, spec_.key_bytes, &key);
      batch.Put(key, rocksdb::Slice(values_.Slice(random.Next(), bytes), bytes)).PermitUncheckedError();
      if (static_cast<uint64_t>(batch.Count()) >= kBatchEntries || batch.GetDataSize() >= kBatchBytes) {
        Write(&batch);
      }
    }
    Write(&batch);
  }

  uint64_t loaded() const { return loaded_.load(std::memory_order_relaxed); }

 private:
  void Write(rocksdb::WriteBatch* batch) {
    const rocksdb::Status status = store_->Load(batch);
    if (!status.ok()) {
      throw StoreError("loading the preload failed", status);
    }
    loaded_.fetch_add(static_cast<uint64_t>(batch->Count()), std::memory_order_relaxed);
    batch->Clear();
  }

  const WorkloadSpec& spec_;
  const uint64_t seed_;
  const ValueSource& values_;
  const SizeSource sizes_;
  const Permutation order_;
  Store* const store_;
  std::atomic<uint64_t> loaded_{0};
};

void LoadAll(const WorkloadSpec& spec, Loader* loader, const Progress& progress) {
  const uint64_t threads = spec.preload.random_order ? std::min(spec.threads, kMaxThreads) : 1;
  std::vector<std::future<void>> shares;
  for (uint64_t thread = 0; thread < threads; ++thread) {
    shares.push_back(std::async(std::launch::async, [=] { loader->LoadShare(thread, threads); }));
  }
  for (std::future<void>& share : shares) {
    while (share.wait_for(kProgressInterval) != std::future_status::ready) {
      progress("load", static_cast<double>(loader->loaded()), static_cast<double>(spec.preload.keys));
    }
    share.get();
  }
}

// RocksDB may report a compaction as due that it never picks. Settle stops waiting if none has run for this
// time.
constexpr std::chrono::seconds kMaxIdle{2};

// Waits until no flush or compaction is running or due.
void Settle(Store* store, const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  const uint64_t total = store->PendingCompactionBytes();
  Clock::time_point last_running = Clock::now();
  Clock::time_point last_progress = last_running;
  for (;;) {
    const Clock::time_point now = Clock::now();
    if (store->CompactionRunning()) {
      last_running = now;
    } else if (!store->CompactionDue() || now - last_running >= kMaxIdle) {
      return;
    }
    if (now - last_progress >= kProgressInterval) {
      last_progress = now;
      // The estimate may grow beyond its first value while compactions run.
      const uint64_t left = std::min(total, store->PendingCompactionBytes());
      progress("settle", static_cast<double>(total - left), static_cast<double>(total));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

void Preload(const WorkloadSpec& spec, uint64_t seed, const ValueSource& values, Store* store,
             const Progress& progress) {
  if (spec.preload.keys == 0) {
    return;
  }
  Loader loader(spec, seed, values, store);
  LoadAll(spec, &loader, progress);
  if (const rocksdb::Status status = store->Flush(); !status.ok()) {
    throw StoreError("flushing the preload failed", status);
  }
  Settle(store, progress);
}

}  // namespace rocktune
