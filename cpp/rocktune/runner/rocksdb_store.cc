#include "rocktune/runner/rocksdb_store.h"

#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "rocktune/runner/run_env.h"
#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/util/thread_role.h"

namespace rocktune {

// Measures the durations of compactions of level 0, in the time of the store's Env. Thread-safe.
class Level0Listener : public rocksdb::EventListener {
 public:
  void OnCompactionCompleted(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& job) override {
    // A trivial move reports a duration of 0 and is no compaction here.
    if (job.status.ok() && job.base_input_level == 0 && job.stats.elapsed_micros != 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      elapsed_ns_.Add(job.stats.elapsed_micros * 1000);
    }
  }

  Histogram::Snapshot Elapsed() const { return elapsed_ns_.TakeSnapshot(); }

 private:
  std::mutex mutex_;  // a histogram allows one writer at a time
  Histogram elapsed_ns_;
};

namespace {

// Passes background errors on, which no operation of the store may return.
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

// Returns the bytes of tables, blob files and WALs. RocksDB has no property for the size of the WALs.
uint64_t DataFileBytes(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::filesystem::path extension = entry.path().extension();
    if (extension == ".sst" || extension == ".blob" || extension == ".log") {
      const uint64_t size = entry.file_size(error);
      bytes += error ? 0 : size;  // RocksDB may delete a file after it was listed
    }
  }
  return bytes;
}

std::map<std::string, uint64_t> Tickers(const rocksdb::Statistics& statistics) {
  std::map<std::string, uint64_t> tickers;
  for (const auto& [ticker, name] : rocksdb::TickersNameMap) {
    if (const uint64_t count = statistics.getTickerCount(ticker); count != 0) {
      tickers[name] = count;
    }
  }
  return tickers;
}

std::map<std::string, StoreState::HistogramFigures> Histograms(const rocksdb::Statistics& statistics) {
  std::map<std::string, StoreState::HistogramFigures> histograms;
  for (const auto& [histogram, name] : rocksdb::HistogramsNameMap) {
    rocksdb::HistogramData data;
    statistics.histogramData(histogram, &data);
    if (data.count != 0) {
      histograms[name] = {data.count,        data.sum,          data.average, data.median,
                          data.percentile95, data.percentile99, data.max};
    }
  }
  return histograms;
}

}  // namespace

RocksDbStore::RocksDbStore(const RocksDbStoreSetup& setup)
    : directory_(setup.directory),
      clock_(setup.clock),
      on_scan_(setup.on_scan),
      env_(NewRunEnv(setup.file_system, setup.clock)),
      statistics_(rocksdb::CreateDBStatistics()),
      level0_(std::make_shared<Level0Listener>()) {
  write_options_.disableWAL = !setup.wal;
  write_options_.sync = setup.sync;
}

RocksDbStore::~RocksDbStore() { RocksDbStore::Close().PermitUncheckedError(); }

rocksdb::Status RocksDbStore::Open(const RocksDbStoreSetup& setup, std::unique_ptr<RocksDbStore>* store) {
  std::unique_ptr<RocksDbStore> opened(new RocksDbStore(setup));
  rocksdb::Options options = setup.options;
  options.create_if_missing = true;
  options.error_if_exists = false;
  options.env = opened->env_.get();
  options.statistics = opened->statistics_;
  options.listeners.push_back(NewThreadRoleListener());
  options.listeners.push_back(std::make_shared<BackgroundErrorListener>(setup.on_background_error));
  options.listeners.push_back(opened->level0_);
  // A user's options may contain the directories of a database in use.
  options.wal_dir.clear();
  options.db_log_dir.clear();
  options.db_paths.clear();
  options.cf_paths.clear();
  rocksdb::Status status = setup.open_database(options, setup.directory, &opened->db_);
  if (status.ok()) {
    *store = std::move(opened);
  }
  return status;
}

rocksdb::Status RocksDbStore::Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value, bool* found) {
  rocksdb::Status status = db_->Get(read_options_, db_->DefaultColumnFamily(), key, value);
  *found = status.ok();
  return status.IsNotFound() ? rocksdb::Status::OK() : status;
}

rocksdb::Status RocksDbStore::Put(const rocksdb::Slice& key, const rocksdb::Slice& value) {
  // DB::Put allocates a batch for each call, which takes more time than everything else the runner does for a
  // put.
  static thread_local rocksdb::WriteBatch batch;
  batch.Clear();
  rocksdb::Status status = batch.Put(key, value);
  return status.ok() ? db_->Write(write_options_, &batch) : status;
}

rocksdb::Status RocksDbStore::Delete(const rocksdb::Slice& key) { return db_->Delete(write_options_, key); }

rocksdb::Status RocksDbStore::Scan(const rocksdb::Slice& start, uint64_t entries, uint64_t* read,
                                   uint64_t* bytes) {
  if (!on_scan_) {
    return Read(start, entries, read, bytes);
  }
  const RunClock::Nanos begin = clock_->Now();
  rocksdb::Status status = Read(start, entries, read, bytes);
  on_scan_(static_cast<uint64_t>(clock_->Now() - begin));
  return status;
}

rocksdb::Status RocksDbStore::Read(const rocksdb::Slice& start, uint64_t entries, uint64_t* read,
                                   uint64_t* bytes) {
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read_options_));
  uint64_t left = entries;
  for (iterator->Seek(start); left > 0 && iterator->Valid(); iterator->Next(), --left) {
    *bytes += iterator->key().size() + iterator->value().size();
    ++*read;
  }
  return iterator->status();
}

rocksdb::Status RocksDbStore::Load(rocksdb::WriteBatch* batch) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return db_->Write(options, batch);
}

rocksdb::Status RocksDbStore::Flush() { return db_->Flush(rocksdb::FlushOptions()); }

uint64_t RocksDbStore::IntProperty(const std::string& name) const {
  uint64_t value = 0;
  return db_->GetIntProperty(name, &value) ? value : 0;
}

uint64_t RocksDbStore::PendingCompactionBytes() {
  return IntProperty(rocksdb::DB::Properties::kEstimatePendingCompactionBytes);
}

bool RocksDbStore::CompactionRunning() {
  return IntProperty(rocksdb::DB::Properties::kNumRunningFlushes) +
             IntProperty(rocksdb::DB::Properties::kNumRunningCompactions) >
         0;
}

bool RocksDbStore::CompactionDue() {
  return IntProperty(rocksdb::DB::Properties::kMemTableFlushPending) != 0 ||
         (IntProperty(rocksdb::DB::Properties::kCompactionPending) != 0 &&
          !db_->GetOptions().disable_auto_compactions);
}

WriteCondition RocksDbStore::CurrentWriteCondition() {
  // RocksDB's event for stall conditions comes too late: a writer that fills the last memtable reports the
  // stop only after it has waited for its end.
  if (IntProperty(rocksdb::DB::Properties::kIsWriteStopped) != 0) {
    return WriteCondition::kStopped;
  }
  return IntProperty(rocksdb::DB::Properties::kActualDelayedWriteRate) != 0 ? WriteCondition::kDelayed
                                                                            : WriteCondition::kNormal;
}

std::map<std::string, uint64_t> RocksDbStore::MemoryBytes() const {
  std::map<std::string, uint64_t> memory;
  memory["memtables"] = IntProperty(rocksdb::DB::Properties::kSizeAllMemTables);
  memory["table_readers"] = IntProperty(rocksdb::DB::Properties::kEstimateTableReadersMem);
  const rocksdb::Options options = db_->GetOptions();
  const auto* table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  const rocksdb::Cache* cache = table == nullptr ? nullptr : table->block_cache.get();
  memory["block_cache"] = cache == nullptr ? 0 : cache->GetUsage();
  memory["block_cache_pinned"] = cache == nullptr ? 0 : cache->GetPinnedUsage();
  return memory;
}

StoreState RocksDbStore::State() {
  StoreState state;
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(&metadata);
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    state.level_bytes.push_back(level.size);
    state.level_files.push_back(level.files.size());
  }
  state.db_bytes = DataFileBytes(directory_);
  state.memory_bytes = MemoryBytes();
  state.tickers = Tickers(*statistics_);
  state.histograms = Histograms(*statistics_);
  state.level0_compactions_ns = level0_->Elapsed();
  state.level0_compactions_ns -= level0_at_reset_;
  return state;
}

void RocksDbStore::ResetStatistics() {
  statistics_->Reset().PermitUncheckedError();
  level0_at_reset_ = level0_->Elapsed();
}

rocksdb::Status RocksDbStore::Close() {
  if (db_ == nullptr) {
    return rocksdb::Status::OK();
  }
  rocksdb::Status status = db_->Close();
  db_.reset();
  return status;
}

OptionMaps RocksDbStore::ReadBackOptions() const {
  const rocksdb::Options options = db_->GetOptions();
  return MapsFromOptions(options, options);
}

}  // namespace rocktune
