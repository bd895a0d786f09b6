#include "rocktune/runner/load_thread.h"

#include <rocksdb/perf_level.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <thread>

#include "rocktune/util/thread_role.h"

namespace rocktune {

LoadThread::LoadThread(const LoadTargets* targets, uint64_t index)
    : targets_(*targets),
      operations_(targets->workload, targets->seed, index),
      // 1 TiB apart from the next thread's, so that no two threads write the same values in a run.
      value_position_(index << 40),
      families_(targets->workload->spec().families.size()) {
  for (std::size_t family = 0; family < families_.size(); ++family) {
    families_[family].key_bytes = targets->workload->spec().families[family].key_bytes;
    families_[family].values = (*targets->values)[family].get();
    families_[family].live_keys = &(*targets->live_keys)[family];
  }
  thread_ = std::thread([this] {
    cpu_.Begin();
    Run();
    cpu_.End();
  });
}

LoadThread::~LoadThread() { thread_.join(); }

void LoadThread::Run() {
  const ScopedThreadRole role(ThreadRole::kUser);
  // RocksDB counts comparisons of keys by default, which takes 8% of the time of a put. The counts are not
  // used. db_bench disables them, too.
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  RunClock& clock = *targets_.clock;
  // One clock reading per operation: in a closed loop the end of an operation is the start of the next one.
  RunClock::Nanos now = clock.Now();
  while (targets_.gate->Pass(&now, &waiting_)) {
    Operation operation;
    try {
      operation = operations_.Next(now - targets_.start);
    } catch (const std::invalid_argument& error) {
      targets_.on_failure(rocksdb::Status::Corruption(error.what()));
      return;
    }
    RunClock::Nanos start = now;
    if (operation.intended_start_ns >= 0) {
      start = targets_.start + operation.intended_start_ns;
      if (!WaitForStart(start)) {
        return;
      }
    }
    if (!operations_.MayStart()) {
      if (!WaitForTurn()) {
        return;
      }
      if (operation.intended_start_ns < 0) {  // the recorded client did not wait for others' operations
        start = clock.Now();
      }
    }
    const rocksdb::Status status = Perform(operation);
    if (!status.ok()) {
      targets_.on_failure(status);
      return;
    }
    operations_.Done();
    now = clock.Now();
    CountersOf(operation).latency_ns.Add(now > start ? static_cast<uint64_t>(now - start) : 0);
    completed_.Add(1);
  }
}

bool LoadThread::WaitForStart(RunClock::Nanos intended) {
  RunClock::Nanos now = targets_.clock->Now();
  if (now < intended) {
    waiting_.store(true, std::memory_order_release);
    const bool go_on = targets_.clock->SleepUntil(intended);
    waiting_.store(false, std::memory_order_release);
    if (!go_on) {
      return false;
    }
    now = targets_.clock->Now();
  }
  return targets_.gate->Pass(&now, &waiting_);
}

bool LoadThread::WaitForTurn() {
  // Most operations take a few microseconds. A thread waits longer for the device, or for a stall.
  constexpr int kYields = 100;
  constexpr std::chrono::microseconds kPause{20};
  RunClock::Nanos now = targets_.clock->Now();
  for (int waits = 0; !operations_.MayStart(); ++waits) {
    // The thread that it waits for may wait at the gate, too.
    if (!targets_.gate->Pass(&now, &waiting_)) {
      return false;
    }
    if (waits < kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kPause);
    }
    now = targets_.clock->Now();
  }
  return targets_.gate->Pass(&now, &waiting_);
}

rocksdb::Status LoadThread::Perform(const Operation& operation) {
  EncodeKey(operation.key, FamilyOf(operation).key_bytes, &key_);
  switch (operation.kind) {
    case OperationKind::kGet:
    case OperationKind::kGetAbsent:
      return Get(operation);
    case OperationKind::kPut:
    case OperationKind::kInsert:
      return Put(operation);
    case OperationKind::kDelete:
      return Delete(operation);
    case OperationKind::kDeleteRange:
      return DeleteRange(operation);
    case OperationKind::kScan:
      return Scan(operation);
    case OperationKind::kReadModifyWrite:
      break;
  }
  rocksdb::Status status = Get(operation);
  return status.ok() ? Put(operation) : status;
}

rocksdb::Status LoadThread::Get(const Operation& operation) {
  bool found = false;
  rocksdb::Status status = targets_.store->Get(operation.family, key_, &value_, &found);
  if (found) {
    CountersOf(operation).found.Add(1);
    FamilyOf(operation).user_bytes_read.Add(key_.size() + value_.size());
    value_.Reset();
  }
  return status;
}

rocksdb::Status LoadThread::Put(const Operation& operation) {
  Family& family = FamilyOf(operation);
  family.live_keys->Prefetch(operation.key);  // arrives while the store writes
  const rocksdb::Slice value(family.values->Slice(value_position_, operation.value_bytes),
                             operation.value_bytes);
  value_position_ += operation.value_bytes;
  rocksdb::Status status = targets_.store->Put(operation.family, key_, value);
  if (status.ok()) {
    family.user_bytes_written.Add(key_.size() + operation.value_bytes);
    family.value_bytes_written.Add(operation.value_bytes);
    family.entries_written.Add(1);
    AddLiveKeys(&family, family.live_keys->Add(operation.key));
  }
  return status;
}

rocksdb::Status LoadThread::Delete(const Operation& operation) {
  Family& family = FamilyOf(operation);
  rocksdb::Status status = targets_.store->Delete(operation.family, key_);
  if (status.ok()) {
    family.user_bytes_written.Add(key_.size());
    AddLiveKeys(&family, family.live_keys->Remove(operation.key));
  }
  return status;
}

rocksdb::Status LoadThread::DeleteRange(const Operation& operation) {
  Family& family = FamilyOf(operation);
  EncodeKey(operation.key + operation.range_keys, family.key_bytes, &end_key_);
  if (operation.range_keys == 0) {
    key_.resize(8);  // the key's prefix: RocksDB drops a range whose ends are equal
  }
  rocksdb::Status status = targets_.store->DeleteRange(operation.family, key_, end_key_);
  if (status.ok()) {
    family.user_bytes_written.Add(key_.size() + end_key_.size());
    AddLiveKeys(&family, family.live_keys->RemoveRange(operation.key, operation.range_keys));
  }
  return status;
}

rocksdb::Status LoadThread::Scan(const Operation& operation) {
  uint64_t read = 0;
  uint64_t bytes = 0;
  rocksdb::Status status = targets_.store->Scan(operation.family, key_, operation.scan_length, &read, &bytes);
  CountersOf(operation).found.Add(read);
  FamilyOf(operation).user_bytes_read.Add(bytes);
  return status;
}

void LoadThread::AddLiveKeys(Family* family, int64_t keys) {
  family->live_keys_added.store(family->live_keys_added.load(std::memory_order_relaxed) + keys,
                                std::memory_order_relaxed);
}

void LoadThread::AddTo(RunTotals* totals) const {
  totals->load_cpu_s += cpu_.Seconds();
  for (std::size_t family = 0; family < families_.size(); ++family) {
    LoadTotals of_family;
    for (std::size_t kind = 0; kind < kOperationKindCount; ++kind) {
      of_family.operations[kind].found = families_[family].kinds[kind].found.Get();
      of_family.operations[kind].latency_ns = families_[family].kinds[kind].latency_ns.TakeSnapshot();
    }
    of_family.user_bytes_read = families_[family].user_bytes_read.Get();
    of_family.user_bytes_written = families_[family].user_bytes_written.Get();
    totals->families[family] += of_family;
    *totals += of_family;
  }
}

}  // namespace rocktune
