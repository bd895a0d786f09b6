#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "rocktune/options/options_applier.h"
#include "rocktune/options_watcher.h"

namespace rocktune {

// The watcher behind OptionsWatcher::Start; the contract is in options_watcher.h.
class OptionsWatcherImpl : public OptionsWatcher {
 public:
  // `applier` has taken the originals. `options.path` is not empty.
  OptionsWatcherImpl(rocksdb::DB* db, const OptionsWatcherOptions& options,
                     std::unique_ptr<OptionsApplier> applier);
  ~OptionsWatcherImpl() override { Stop(); }

  void Stop() override;
  OptionsWatcherCounters Counters() const override;
  OptionsReport LastReport() const override;
  std::string PrometheusText() const override;

 private:
  void Run();
  // Looks at the file once.
  void Look();
  // Reads the file. Returns false if it does not exist or cannot be read.
  bool ReadFile(std::string* text) const;
  // Returns true if the file's content has to be applied: it differs from the last one, and is complete or
  // was so incomplete at the last look, too.
  bool IsDue(const std::string& text);
  // Logs, counts and reports the result of a file, or of options that waited (`waited`).
  void Report(const OptionsReport& report, bool waited);

  rocksdb::DB* const db_;
  const OptionsWatcherOptions options_;
  const std::unique_ptr<OptionsApplier> applier_;  // used by the thread alone

  std::string applied_text_;     // content of the last file that was applied or refused
  std::string incomplete_text_;  // content at the last look, if it is incomplete

  mutable std::mutex mutex_;  // guards the members below; never held while RocksDB or on_report is called
  std::condition_variable ending_;
  bool ended_ = false;
  OptionsWatcherCounters counters_;
  OptionsReport last_report_;

  std::mutex stop_mutex_;  // lets one Stop at a time join
  std::thread thread_;     // last, since it uses the other members
};

}  // namespace rocktune
