#include "rocktune/runner/rocksdb_store.h"

#include <rocksdb/metadata.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "rocktune/runner/run_env.h"
#include "rocktune/runner/store_listeners.h"
#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/util/thread_role.h"

namespace rocktune {
namespace {

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

// Adds the elements of `more` to those of `*sums`, which becomes as long as the longer one.
void AddEach(const std::vector<uint64_t>& more, std::vector<uint64_t>* sums) {
  sums->resize(std::max(sums->size(), more.size()));
  std::transform(more.begin(), more.end(), sums->begin(), sums->begin(), std::plus<>());
}

}  // namespace

RocksDbStore::RocksDbStore(const RocksDbStoreSetup& setup)
    : file_system_(setup.file_system),
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
  options.listeners.push_back(NewBackgroundErrorListener(setup.on_background_error));
  options.listeners.push_back(opened->level0_);
  // A user's options may contain the directories of a database in use.
  options.wal_dir.clear();
  options.db_log_dir.clear();
  options.db_paths.clear();
  options.cf_paths.clear();
  // Fails for a new store, which has no directory yet; opening reports any other error.
  setup.file_system->AdoptFiles(setup.directory).PermitUncheckedError();
  rocksdb::Status status = opened->OpenDatabase(setup, options);
  if (status.ok()) {
    *store = std::move(opened);
  }
  return status;
}

rocksdb::Status RocksDbStore::OpenDatabase(const RocksDbStoreSetup& setup, const rocksdb::Options& options) {
  if (setup.families.empty()) {
    rocksdb::Status status = setup.open_database(options, setup.directory, &db_);
    if (status.ok()) {
      families_ = {db_->DefaultColumnFamily()};
    }
    return status;
  }
  rocksdb::DBOptions db_options(options);
  db_options.create_missing_column_families = true;
  std::vector<rocksdb::ColumnFamilyDescriptor> families = setup.families;
  for (rocksdb::ColumnFamilyDescriptor& family : families) {
    family.options.cf_paths.clear();
  }
  owns_handles_ = true;
  return OpenColumnFamilies(db_options, setup.directory, families, &families_, &db_);
}

rocksdb::Status RocksDbStore::Get(std::size_t family, const rocksdb::Slice& key,
                                  rocksdb::PinnableSlice* value, bool* found) {
  rocksdb::Status status = db_->Get(read_options_, families_[family], key, value);
  *found = status.ok();
  return status.IsNotFound() ? rocksdb::Status::OK() : status;
}

rocksdb::Status RocksDbStore::Put(std::size_t family, const rocksdb::Slice& key,
                                  const rocksdb::Slice& value) {
  // DB::Put allocates a batch for each call, which takes more time than everything else the runner does for a
  // put.
  static thread_local rocksdb::WriteBatch batch;
  batch.Clear();
  rocksdb::Status status = batch.Put(families_[family], key, value);
  return status.ok() ? db_->Write(write_options_, &batch) : status;
}

rocksdb::Status RocksDbStore::Delete(std::size_t family, const rocksdb::Slice& key) {
  return db_->Delete(write_options_, families_[family], key);
}

rocksdb::Status RocksDbStore::Scan(std::size_t family, const rocksdb::Slice& start, uint64_t entries,
                                   uint64_t* read, uint64_t* bytes) {
  if (!on_scan_) {
    return Read(family, start, entries, read, bytes);
  }
  const RunClock::Nanos begin = clock_->Now();
  rocksdb::Status status = Read(family, start, entries, read, bytes);
  on_scan_(static_cast<uint64_t>(clock_->Now() - begin));
  return status;
}

rocksdb::Status RocksDbStore::Read(std::size_t family, const rocksdb::Slice& start, uint64_t entries,
                                   uint64_t* read, uint64_t* bytes) {
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read_options_, families_[family]));
  uint64_t left = entries;
  for (iterator->Seek(start); left > 0 && iterator->Valid(); iterator->Next(), --left) {
    *bytes += iterator->key().size() + iterator->value().size();
    ++*read;
  }
  return iterator->status();
}

rocksdb::Status RocksDbStore::AddTo(rocksdb::WriteBatch* batch, std::size_t family, const rocksdb::Slice& key,
                                    const rocksdb::Slice& value) {
  return batch->Put(families_[family], key, value);
}

rocksdb::Status RocksDbStore::Load(rocksdb::WriteBatch* batch) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return db_->Write(options, batch);
}

rocksdb::Status RocksDbStore::Flush() {
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (rocksdb::Status status = db_->Flush(rocksdb::FlushOptions(), family); !status.ok()) {
      return status;
    }
  }
  return rocksdb::Status::OK();
}

uint64_t RocksDbStore::IntProperty(rocksdb::ColumnFamilyHandle* family, const std::string& name) const {
  uint64_t value = 0;
  return db_->GetIntProperty(family, name, &value) ? value : 0;
}

uint64_t RocksDbStore::IntProperty(const std::string& name) const {
  return IntProperty(db_->DefaultColumnFamily(), name);
}

uint64_t RocksDbStore::SumProperty(const std::string& name) const {
  return std::accumulate(
      families_.begin(), families_.end(), uint64_t{0},
      [&](uint64_t sum, rocksdb::ColumnFamilyHandle* family) { return sum + IntProperty(family, name); });
}

uint64_t RocksDbStore::PendingCompactionBytes() {
  return SumProperty(rocksdb::DB::Properties::kEstimatePendingCompactionBytes);
}

bool RocksDbStore::CompactionRunning() {
  return IntProperty(rocksdb::DB::Properties::kNumRunningFlushes) +
             IntProperty(rocksdb::DB::Properties::kNumRunningCompactions) >
         0;
}

bool RocksDbStore::CompactionDue() {
  return std::any_of(families_.begin(), families_.end(), [this](rocksdb::ColumnFamilyHandle* family) {
    return IntProperty(family, rocksdb::DB::Properties::kMemTableFlushPending) != 0 ||
           (IntProperty(family, rocksdb::DB::Properties::kCompactionPending) != 0 &&
            !db_->GetOptions(family).disable_auto_compactions);
  });
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

uint64_t RocksDbStore::MemtableBytes() { return SumProperty(rocksdb::DB::Properties::kSizeAllMemTables); }

std::map<std::string, uint64_t> RocksDbStore::MemoryBytes() {
  std::set<const rocksdb::Cache*> caches;  // families may share one
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    const rocksdb::Options options = db_->GetOptions(family);
    const auto* table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table != nullptr && table->block_cache != nullptr) {
      caches.insert(table->block_cache.get());
    }
  }
  std::map<std::string, uint64_t> memory = {
      {"block_cache", 0}, {"block_cache_pinned", 0}, {"memtables", MemtableBytes()}};
  memory["table_readers"] = SumProperty(rocksdb::DB::Properties::kEstimateTableReadersMem);
  for (const rocksdb::Cache* cache : caches) {
    memory["block_cache"] += cache->GetUsage();
    memory["block_cache_pinned"] += cache->GetPinnedUsage();
  }
  return memory;
}

FamilyState RocksDbStore::StateOf(rocksdb::ColumnFamilyHandle* family) const {
  FamilyState state;
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(family, &metadata);
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    state.level_bytes.push_back(level.size);
    state.level_files.push_back(level.files.size());
  }
  state.memtable_bytes = IntProperty(family, rocksdb::DB::Properties::kSizeAllMemTables);
  state.pending_compaction_bytes =
      IntProperty(family, rocksdb::DB::Properties::kEstimatePendingCompactionBytes);
  return state;
}

// The files are not asked: a look at each of a thousand at every interval of a series would take a sixth of a
// processor, more for configurations with small files.
uint64_t RocksDbStore::DataBytes() { return file_system_->DataBytes(); }

StoreState RocksDbStore::State() {
  StoreState state;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    state.families.push_back(StateOf(family));
    AddEach(state.families.back().level_bytes, &state.level_bytes);
    AddEach(state.families.back().level_files, &state.level_files);
  }
  state.db_bytes = DataBytes();
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
  if (owns_handles_) {
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    }
  }
  families_.clear();
  rocksdb::Status status = db_->Close();
  db_.reset();
  return status;
}

OptionMaps RocksDbStore::ReadBackOptions() const {
  const rocksdb::Options options = db_->GetOptions();
  if (!owns_handles_) {
    return MapsFromOptions(options, options);
  }
  OptionMaps maps;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    OptionMaps of_family = MapsFromOptions(options, db_->GetOptions(family));
    maps.db = std::move(of_family.db);
    maps.families[family->GetName()] = {std::move(of_family.cf), std::move(of_family.table)};
  }
  return maps;
}

}  // namespace rocktune
