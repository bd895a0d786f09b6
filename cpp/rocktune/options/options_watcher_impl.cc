#include "rocktune/options/options_watcher_impl.h"

#include <rocksdb/env.h>

#include <chrono>
#include <exception>
#include <utility>

#include "rocktune/util/prometheus.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr uint64_t kMinIntervalMicros = 1000;
constexpr uint64_t kMaxFileBytes = 1 << 20;

const char* NameOf(OptionsOutcome outcome) {
  switch (outcome) {
    case OptionsOutcome::kApplied:
      return "applied";
    case OptionsOutcome::kWaiting:
      return "waiting";
    case OptionsOutcome::kRefused:
      return "refused";
    case OptionsOutcome::kRolledBack:
      return "rolled back";
    case OptionsOutcome::kRollbackFailed:
      break;
  }
  return "rollback failed";
}

}  // namespace

rocksdb::Status OptionsWatcher::Start(rocksdb::DB* db,
                                      const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                                      const OptionsWatcherOptions& options,
                                      std::unique_ptr<OptionsWatcher>* watcher) {
  if (options.interval_us < kMinIntervalMicros) {
    return rocksdb::Status::InvalidArgument("interval_us must be at least 1000");
  }
  rocksdb::Status status = CheckWritable(db);
  try {
    auto applier = std::make_unique<OptionsApplier>(db, families);
    if (status.ok()) {
      status = applier->TakeOriginals();
    }
    if (status.ok()) {
      OptionsWatcherOptions complete = options;
      if (complete.path.empty()) {
        complete.path = db->GetName() + "/" + kWatchedFile;
      }
      *watcher = std::make_unique<OptionsWatcherImpl>(db, complete, std::move(applier));
    }
  } catch (const std::exception& error) {
    status = rocksdb::Status::Aborted(error.what());
  }
  return status;
}

OptionsWatcherImpl::OptionsWatcherImpl(rocksdb::DB* db, const OptionsWatcherOptions& options,
                                       std::unique_ptr<OptionsApplier> applier)
    : db_(db), options_(options), applier_(std::move(applier)), thread_([this] { Run(); }) {}

void OptionsWatcherImpl::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  const std::lock_guard<std::mutex> lock(stop_mutex_);
  if (thread_.joinable()) {
    thread_.join();
  }
}

void OptionsWatcherImpl::Run() {
  const std::chrono::microseconds interval(options_.interval_us);
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_) {
    lock.unlock();
    try {
      Look();
    } catch (const std::exception& error) {  // RunError or std::bad_alloc, before anything was changed
      OptionsReport report;
      report.outcome = OptionsOutcome::kRefused;
      report.reason = error.what();
      Report(report, false);
    }
    lock.lock();
    ending_.wait_for(lock, interval, [this] { return ended_; });
  }
}

bool OptionsWatcherImpl::IsDue(const std::string& text) {
  if (text == applied_text_) {
    return false;
  }
  if (IsComplete(text) || text == incomplete_text_) {
    incomplete_text_.clear();
    return true;
  }
  incomplete_text_ = text;
  return false;
}

bool OptionsWatcherImpl::ReadFile(std::string* text) const {
  uint64_t bytes = 0;
  if (!db_->GetEnv()->GetFileSize(options_.path, &bytes).ok()) {
    return false;
  }
  if (bytes > kMaxFileBytes) {
    *text = "more than 1 MiB";  // counts as a file without checksum, and is refused
    return true;
  }
  return rocksdb::ReadFileToString(db_->GetEnv(), options_.path, text).ok();
}

void OptionsWatcherImpl::Look() {
  std::string text;
  if (ReadFile(&text) && IsDue(text)) {
    applied_text_ = std::move(text);
    Report(applier_->Apply(applied_text_), false);
  } else if (applier_->waiting()) {
    const OptionsReport report = applier_->ApplyWaiting();
    if (report.outcome != OptionsOutcome::kWaiting || !report.changes.empty()) {
      Report(report, true);
    }
  }
}

void OptionsWatcherImpl::Report(const OptionsReport& given, bool waited) {
  OptionsReport report = given;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool applied =
        report.outcome == OptionsOutcome::kApplied || report.outcome == OptionsOutcome::kWaiting;
    if (waited) {
      report.file_crc32 = counters_.file_crc32;
    } else if (applied) {
      ++counters_.files_applied;
      counters_.file_crc32 = report.file_crc32;
    } else if (report.outcome == OptionsOutcome::kRefused) {
      ++counters_.files_refused;
    } else {
      ++counters_.files_rolled_back;
    }
    counters_.options_changed += report.changes.size();
    counters_.options_waiting = applied || waited ? report.waiting.size() : counters_.options_waiting;
    last_report_ = report;
  }
  const auto& log = db_->GetDBOptions().info_log;
  rocksdb::Info(log, "rocktune: options file %s: %s%s%s", options_.path.c_str(), NameOf(report.outcome),
                report.reason.empty() ? "" : ": ", report.reason.c_str());
  for (const OptionChange& change : report.changes) {
    rocksdb::Info(log, "rocktune: %s %s: %s -> %s", change.where.c_str(), change.name.c_str(),
                  change.before.c_str(), change.after.c_str());
  }
  if (options_.on_report) {
    options_.on_report(report);
  }
}

OptionsWatcherCounters OptionsWatcherImpl::Counters() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counters_;
}

OptionsReport OptionsWatcherImpl::LastReport() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_report_;
}

std::string OptionsWatcherImpl::PrometheusText() const {
  const OptionsWatcherCounters counters = Counters();
  PrometheusWriter metrics("rocktune_options_");
  metrics.Add("files_applied_total", "counter", "Options files that took effect.",
              static_cast<double>(counters.files_applied));
  metrics.Add("files_refused_total", "counter", "Options files that were refused and changed nothing.",
              static_cast<double>(counters.files_refused));
  metrics.Add("files_rolled_back_total", "counter", "Options files that RocksDB refused or reverted.",
              static_cast<double>(counters.files_rolled_back));
  metrics.Add("changed_total", "counter", "Changes of an option's value.",
              static_cast<double>(counters.options_changed));
  metrics.Add("waiting", "gauge", "Options that wait until they do no harm.",
              static_cast<double>(counters.options_waiting));
  metrics.Add("file_crc32", "gauge", "Checksum of the options file in force; 0 before the first.",
              static_cast<double>(counters.file_crc32));
  return metrics.text();
}

}  // namespace rocktune
