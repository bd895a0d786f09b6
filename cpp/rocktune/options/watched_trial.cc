#include "rocktune/options/watched_trial.h"

#include <rocksdb/db.h>

#include <memory>
#include <vector>

#include "rocktune/options/options_applier.h"
#include "rocktune/runner/memory_env.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// An empty database in memory, with its column families.
class MemoryDatabase {
 public:
  explicit MemoryDatabase(const OptionMaps& present) {
    std::vector<std::string> names = {rocksdb::kDefaultColumnFamilyName};
    for (const auto& [name, options] : present.families) {
      if (name != names.front()) {
        names.push_back(name);
      }
    }
    rocksdb::DBOptions options = ParsedOptions({.db = present.db, .cf = {}, .table = {}});
    MoveInto(&env_, &options);
    options.create_missing_column_families = true;
    std::vector<rocksdb::ColumnFamilyDescriptor> families = FamiliesFromMaps(present, names);
    for (rocksdb::ColumnFamilyDescriptor& family : families) {
      family.options.cf_paths.clear();
    }
    const rocksdb::Status status = OpenColumnFamilies(options, "/store", families, &handles_, &database_);
    if (!status.ok()) {
      throw RunError(RunFailure::kInvalid,
                     "RocksDB opens no database with the options: " + status.ToString());
    }
  }
  ~MemoryDatabase() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      database_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }
  MemoryDatabase(const MemoryDatabase&) = delete;
  MemoryDatabase& operator=(const MemoryDatabase&) = delete;

  rocksdb::DB* get() const { return database_.get(); }
  const std::vector<rocksdb::ColumnFamilyHandle*>& handles() const { return handles_; }

 private:
  MemoryEnv env_;
  std::unique_ptr<rocksdb::DB> database_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace

OptionsReport TryWatched(const OptionMaps& present, const std::string& text) {
  const MemoryDatabase database(present);
  OptionsApplier applier(database.get(), database.handles());
  if (const rocksdb::Status status = applier.TakeOriginals(); !status.ok()) {
    throw RunError(RunFailure::kCrashed, status.ToString());
  }
  return applier.Apply(text);
}

}  // namespace rocktune
