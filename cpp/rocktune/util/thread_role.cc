#include "rocktune/util/thread_role.h"

namespace rocktune {
namespace {

using internal::job_role;
using internal::own_role;

// Uses only pairs of events that come both on the thread that does the I/O, so that no role outlives its job.
// OnFlushBegin and OnFlushCompleted are not such a pair: the second does not come after a failed flush, and
// comes on another thread when that one commits the results of both. (While a DB shuts down the end of a
// subcompaction is not reported; what a pool thread does next for another DB begins with an event again.)
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
  job_role = ThreadRole::kOther;  // no job is running on a thread that says what it does
}

ScopedThreadRole::~ScopedThreadRole() { own_role = previous_; }

std::shared_ptr<rocksdb::EventListener> NewThreadRoleListener() {
  return std::make_shared<ThreadRoleListener>();
}

}  // namespace rocktune
