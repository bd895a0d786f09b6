#include "rocktune/runner/load_thread.h"

#include <rocksdb/perf_level.h>

#include <cstddef>

#include "rocktune/util/thread_role.h"

namespace rocktune {

LoadThread::LoadThread(const LoadTargets* targets, uint64_t index)
    : targets_(*targets),
      key_bytes_(targets->workload->spec().key_bytes),
      operations_(targets->workload, targets->seed, index),
      // 1 TiB apart from the next thread's, so that no two threads write the same values in a run.
      value_position_(index << 40),
      thread_([this] { Run(); }) {}

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
    const Operation operation = operations_.Next(now - targets_.start);
    RunClock::Nanos start = now;
    if (operation.intended_start_ns >= 0) {
      start = targets_.start + operation.intended_start_ns;
      if (!WaitForStart(start)) {
        return;
      }
    }
    const rocksdb::Status status = Perform(operation);
    if (!status.ok()) {
      targets_.on_failure(status);
      return;
    }
    now = clock.Now();
    CountersOf(operation.kind).latency_ns.Add(now > start ? static_cast<uint64_t>(now - start) : 0);
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

rocksdb::Status LoadThread::Perform(const Operation& operation) {
  EncodeKey(operation.key, key_bytes_, &key_);
  KindCounters& counters = CountersOf(operation.kind);
  switch (operation.kind) {
    case OperationKind::kGet:
    case OperationKind::kGetAbsent:
      return Get(&counters);
    case OperationKind::kPut:
    case OperationKind::kInsert:
      return Put(operation);
    case OperationKind::kDelete:
      return Delete(operation);
    case OperationKind::kScan:
      return Scan(operation, &counters);
    case OperationKind::kReadModifyWrite:
      break;
  }
  rocksdb::Status status = Get(&counters);
  return status.ok() ? Put(operation) : status;
}

rocksdb::Status LoadThread::Get(KindCounters* counters) {
  bool found = false;
  rocksdb::Status status = targets_.store->Get(key_, &value_, &found);
  if (found) {
    counters->found.Add(1);
    user_bytes_read_.Add(key_bytes_ + value_.size());
    value_.Reset();
  }
  return status;
}

rocksdb::Status LoadThread::Put(const Operation& operation) {
  targets_.live_keys->Prefetch(operation.key);  // arrives while the store writes
  const rocksdb::Slice value(targets_.values->Slice(value_position_, operation.value_bytes),
                             operation.value_bytes);
  value_position_ += operation.value_bytes;
  rocksdb::Status status = targets_.store->Put(key_, value);
  if (status.ok()) {
    user_bytes_written_.Add(key_bytes_ + operation.value_bytes);
    value_bytes_written_.Add(operation.value_bytes);
    entries_written_.Add(1);
    AddLiveKeys(targets_.live_keys->Add(operation.key));
  }
  return status;
}

rocksdb::Status LoadThread::Delete(const Operation& operation) {
  rocksdb::Status status = targets_.store->Delete(key_);
  if (status.ok()) {
    user_bytes_written_.Add(key_bytes_);
    AddLiveKeys(targets_.live_keys->Remove(operation.key));
  }
  return status;
}

rocksdb::Status LoadThread::Scan(const Operation& operation, KindCounters* counters) {
  uint64_t read = 0;
  uint64_t bytes = 0;
  rocksdb::Status status = targets_.store->Scan(key_, operation.scan_length, &read, &bytes);
  counters->found.Add(read);
  user_bytes_read_.Add(bytes);
  return status;
}

void LoadThread::AddLiveKeys(int64_t keys) {
  live_keys_added_.store(live_keys_added() + keys, std::memory_order_relaxed);
}

void LoadThread::AddTo(RunTotals* totals) const {
  for (std::size_t kind = 0; kind < kOperationKindCount; ++kind) {
    totals->operations[kind].found += kinds_[kind].found.Get();
    totals->operations[kind].latency_ns += kinds_[kind].latency_ns.TakeSnapshot();
  }
  totals->user_bytes_read += user_bytes_read_.Get();
  totals->user_bytes_written += user_bytes_written_.Get();
}

}  // namespace rocktune
