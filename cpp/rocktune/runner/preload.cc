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

// Writes the entries of a family's preload. LoadShare may run on several threads at the same time.
class Loader {
 public:
  Loader(const FamilySpec& spec, std::size_t family, uint64_t seed, const ValueSource& values,
         const KeyBits& present, const std::vector<uint32_t>& given_sizes, Store* store)
      : spec_(spec),
        family_(family),
        // Families do not load the same entries.
        seed_(family == 0 ? seed : Mix64(seed + family)),
        values_(values),
        sizes_(spec.value),
        present_(present),
        given_sizes_(given_sizes),
        // A trace's present keys lie between its other keys.
        keys_(present.empty() ? spec.preload.keys : spec.keys),
        order_(keys_, seed_),
        store_(store) {}

  // Writes every `threads`-th key, from the key `thread` on. Throws RunError if the store fails.
  void LoadShare(uint64_t thread, uint64_t threads) {
    const ScopedThreadRole role(ThreadRole::kUser);
    rocksdb::WriteBatch batch;
    std::string key;
    for (uint64_t i = thread; i < keys_; i += threads) {
      const uint64_t index = spec_.preload.random_order ? order_(i) : i;
      if (!present_.empty() && !HasBit(present_, index)) {
        continue;
      }
      // Seeded by the key, so that an entry does not depend on the number of threads.
      Random random(seed_ ^ Mix64(index));
      const uint64_t bytes = given_sizes_.empty() ? sizes_.Next(&random) : given_sizes_[index];
      EncodeKey(index, spec_.key_bytes, &key);
      const rocksdb::Slice value(values_.Slice(random.Next(), bytes), bytes);
      store_->AddTo(&batch, family_, key, value).PermitUncheckedError();
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

  const FamilySpec& spec_;
  const std::size_t family_;
  const uint64_t seed_;
  const ValueSource& values_;
  const SizeSource sizes_;
  const KeyBits& present_;
  const std::vector<uint32_t>& given_sizes_;
  const uint64_t keys_;
  const Permutation order_;
  Store* const store_;
  std::atomic<uint64_t> loaded_{0};
};

// Loads a family's preload on up to `threads` threads. `done` keys of `total` are loaded already.
void LoadFamily(uint64_t threads, uint64_t done, uint64_t total, Loader* loader, const Progress& progress) {
  std::vector<std::future<void>> shares;
  for (uint64_t thread = 0; thread < threads; ++thread) {
    shares.push_back(std::async(std::launch::async, [=] { loader->LoadShare(thread, threads); }));
  }
  for (std::future<void>& share : shares) {
    while (share.wait_for(kProgressInterval) != std::future_status::ready) {
      progress("load", static_cast<double>(done + loader->loaded()), static_cast<double>(total));
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

void Preload(const WorkloadSpec& spec, uint64_t seed, const ValueSources& values,
             const std::vector<KeyBits>& present, const std::vector<std::vector<uint32_t>>& sizes,
             Store* store, const Progress& progress) {
  const uint64_t total = spec.preload_keys();
  if (total == 0) {
    return;
  }
  uint64_t done = 0;
  for (std::size_t family = 0; family < spec.families.size(); ++family) {
    const PreloadSpec& preload = spec.families[family].preload;
    Loader loader(spec.families[family], family, seed, *values[family], present[family], sizes[family],
                  store);
    const uint64_t threads = preload.random_order ? std::min(spec.threads, kMaxThreads) : 1;
    LoadFamily(threads, done, total, &loader, progress);
    done += preload.keys;
  }
  if (const rocksdb::Status status = store->Flush(); !status.ok()) {
    throw StoreError("flushing the preload failed", status);
  }
  Settle(store, progress);
}

}  // namespace rocktune
