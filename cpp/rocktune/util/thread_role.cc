#include "rocktune/util/thread_role.h"

namespace rocktune {
namespace {

using internal::job_role;
using internal::own_role;

// Sets the thread's job role by RocksDB's events. It uses only pairs of events that RocksDB calls both on the
// thread that does the I/O, so that no role outlives its job. OnFlushBegin and OnFlushCompleted are not such
// a pair: OnFlushCompleted is not called after a failed flush, and is called on another thread if that thread
// commits the results of both. RocksDB omits OnSubcompactionCompleted while a database shuts down; the role
// then stays until the pool thread's next job, which begins with an event.
class ThreadRoleListener : public rocksdb::EventListener {
 public:
  const char* Name() const override { return "rocktune.ThreadRoleListener"; }

  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& info) override {
    if (info.reason == rocksdb::TableFileCreationReason::kFlush) {
      job_role = ThreadRole::kFlush;
    }
  }

  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    if (info.reason == rocksdb::TableFileCreationReason::kFlush) {
      job_role = ThreadRole::kOther;
    }
  }

  void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo& /*info*/) override {
    job_role = ThreadRole::kCompaction;
  }

  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo& /*info*/) override {
    job_role = ThreadRole::kOther;
  }
};

}  // namespace

ScopedThreadRole::ScopedThreadRole(ThreadRole role) : previous_(own_role) {
  own_role = role;
  job_role = ThreadRole::kOther;  // clears the role of a job whose end was not reported
}

ScopedThreadRole::~ScopedThreadRole() { own_role = previous_; }

std::shared_ptr<rocksdb::EventListener> NewThreadRoleListener() {
  return std::make_shared<ThreadRoleListener>();
}

}  // namespace rocktune
