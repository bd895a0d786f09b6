#include "rocktune/runner/store_listeners.h"

#include <utility>

namespace rocktune {
namespace {

class BackgroundErrorListener : public rocksdb::EventListener {
 public:
  explicit BackgroundErrorListener(std::function<void(const rocksdb::Status&)> on_background_error)
      : on_background_error_(std::move(on_background_error)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status* error) override {
    on_background_error_(*error);
  }

  // The first error ends the run. Without this, Close could wait for a recovery that never ends.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

 private:
  const std::function<void(const rocksdb::Status&)> on_background_error_;
};

}  // namespace

void Level0Listener::OnCompactionCompleted(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& job) {
  // A trivial move reports a duration of 0 and is no compaction here.
  if (job.status.ok() && job.base_input_level == 0 && job.stats.elapsed_micros != 0) {
    const std::lock_guard<std::mutex> lock(mutex_);
    elapsed_ns_.Add(job.stats.elapsed_micros * 1000);
  }
}

std::shared_ptr<rocksdb::EventListener> NewBackgroundErrorListener(
    std::function<void(const rocksdb::Status&)> on_background_error) {
  return std::make_shared<BackgroundErrorListener>(std::move(on_background_error));
}

}  // namespace rocktune
