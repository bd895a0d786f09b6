#include <algorithm>

#include "rocktune/flsm/flsm_compactor.h"
#include "rocktune/flsm/flsm_recorder.h"
#include "rocktune/flsm/flsm_runs.h"

// What an FlsmCompactor does about tables that come and go without it.

namespace rocktune {

void FlsmCompactor::OnFlushed(const FlsmTable& table) {
  recorder_->CountFlush(table.bytes);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tables_.AddFlushed(table);
    tables_changed_ = true;
    // AddFlushed relies on flushed tables having ascending numbers in level 0; ingested ones have others.
    must_reload_ = must_reload_ || ingestions_ > 0;
    reshape_at_ = std::max(reshape_at_, Clock::now() + kIdleDelay);
  }
  NotifyAll();
}

void FlsmCompactor::OnMissedFlushes() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tables_changed_ = must_reload_ = true;
  }
  NotifyAll();
}

void FlsmCompactor::OnDeleted(uint64_t number) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!tables_.MarkDeleted(number)) {
      return;
    }
    tables_changed_ = true;
  }
  NotifyAll();
}

void FlsmCompactor::OnIngested() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++ingestions_;
    ReloadRuns();
  }
  NotifyAll();
}

void FlsmCompactor::ReloadRuns() {
  tables_.Read(Metadata(db_, family_));
  AddUnknownRuns(tables_, &shape_);
  ReadIdleRuns(tables_, &shape_);
  tables_changed_ = true;
  must_reload_ = shape_.level0_busy;  // level 0 is read again when its task has ended
  RefreshTables();
}

}  // namespace rocktune
