#include "rocktune/migrate/migration_options.h"

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/statistics.h>

#include <algorithm>
#include <memory>

#include "rocktune/migrate/open_store.h"
#include "rocktune/util/silent_logger.h"

namespace rocktune {
namespace {

constexpr int kMaxOpenFiles = 500;
constexpr const char* kComparator = "comparator";
constexpr const char* kMergeOperator = "merge_operator";

// Stands in for a merge operator that only the application has. Without an operator RocksDB would not replay
// a WAL with operands.
class UnknownMergeOperator : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "rocktune.UnknownMergeOperator"; }
  bool FullMergeV2(const MergeOperationInput& /*in*/, MergeOperationOutput* /*out*/) const override {
    return false;
  }
};

RunError Refused(const std::string& family, const std::string& problem) {
  return RunError(RunFailure::kInvalid, "column family '" + family + "': " + problem);
}

// Returns the comparator of a name, or null if it is neither of the two whose order a copy can keep.
const rocksdb::Comparator* ComparatorNamed(const std::string& name) {
  for (const rocksdb::Comparator* known :
       {rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator()}) {
    if (name == known->Name()) {
      return known;
    }
  }
  return nullptr;
}

void CheckComparator(const std::string& family, const std::string& name) {
  if (ComparatorNamed(name) == nullptr) {
    throw Refused(family, "its comparator '" + name + "' is not supported; only " +
                              rocksdb::BytewiseComparator()->Name() + " and " +
                              rocksdb::ReverseBytewiseComparator()->Name() + " are");
  }
}

// Returns a merge operator of RocksDB's own, or null if the text does not say all that it needs.
std::shared_ptr<rocksdb::MergeOperator> MergeOperatorOf(const std::string& text) {
  // Older OPTIONS files name this operator without its delimiter.
  const bool is_incomplete =
      text.find("StringAppend") != std::string::npos && text.find("delimiter") == std::string::npos;
  std::shared_ptr<rocksdb::MergeOperator> found;
  if (is_incomplete || !rocksdb::MergeOperator::CreateFromString(StrictConfigOptions(), text, &found).ok()) {
    found.reset();
  }
  return found;
}

std::string TextOr(const OptionMaps::Map& options, const char* name, const std::string& otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}

// Sets the options of `family` that reading needs, from the text of its OPTIONS file.
void SetPresent(const OptionMaps::Map& texts, MigratedFamily* family) {
  const std::string comparator = TextOr(texts, kComparator, rocksdb::BytewiseComparator()->Name());
  CheckComparator(family->name, comparator);
  OptionMaps shape;
  for (const char* name : {"compaction_style", "num_levels"}) {
    if (const auto found = texts.find(name); found != texts.end()) {
      shape.cf.insert(*found);
    }
  }
  family->present = ParsedOptions(shape);
  family->present.comparator = ComparatorNamed(comparator);
  const std::string merging = TextOr(texts, kMergeOperator, "nullptr");
  if (merging != "nullptr" && !merging.empty()) {
    family->present.merge_operator = MergeOperatorOf(merging);
    if (family->present.merge_operator == nullptr) {
      family->unknown_merge_operator = merging;
      family->present.merge_operator = std::make_shared<UnknownMergeOperator>();
    }
  }
}

void CheckFamilies(const OptionMaps& maps, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!maps.families.contains(name)) {
      throw Refused(name,
                    "the database has it, but its OPTIONS file does not; open it once with your program");
    }
  }
  for (const auto& [name, family] : maps.families) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw Refused(name, "the OPTIONS file has it, but the database does not; remove it there");
    }
  }
}

}  // namespace

std::vector<MigratedFamily> FamiliesOf(const MigrationRequest& request,
                                       const std::vector<std::string>& names) {
  CheckFamilies(request.present, names);
  CheckFamilies(request.wanted, names);
  std::vector<MigratedFamily> families;
  for (const rocksdb::ColumnFamilyDescriptor& wanted : FamiliesFromMaps(request.wanted, names)) {
    MigratedFamily family;
    family.name = wanted.name;
    family.wanted = wanted.options;
    SetPresent(request.present.families.at(wanted.name).cf, &family);
    CheckComparator(wanted.name, wanted.options.comparator->Name());
    if (family.present.compaction_style == rocksdb::kCompactionStyleFIFO ||
        family.wanted.compaction_style == rocksdb::kCompactionStyleFIFO) {
      throw Refused(wanted.name,
                    "FIFO compaction drops data by the age and size of tables, which new tables lose");
    }
    families.push_back(std::move(family));
  }
  return families;
}

RunError UnmergedOperands(const MigratedFamily& family) {
  return Refused(family.name,
                 "it has operands of the merge operator '" + family.unknown_merge_operator +
                     "', which only its application has; merge them there first, with CompactRange "
                     "and bottommost_level_compaction=kForce");
}

rocksdb::DBOptions ReadingOptions(const OptionMaps& maps, rocksdb::Env* env) {
  rocksdb::DBOptions options;
  options.env = env;
  options.info_log = std::make_shared<SilentLogger>();
  options.max_open_files = kMaxOpenFiles;
  if (const auto wal = maps.db.find("wal_dir"); wal != maps.db.end()) {
    options.wal_dir = wal->second;
  }
  return options;
}

rocksdb::DBOptions WorkingOptions(const MigrationRequest& request, rocksdb::Env* env) {
  rocksdb::DBOptions options = ParsedOptions({request.wanted.db, {}, {}});
  options.env = env;
  options.create_if_missing = false;
  options.error_if_exists = false;
  options.db_log_dir.clear();
  options.max_open_files = kMaxOpenFiles;
  options.allow_mmap_reads = false;
  options.allow_mmap_writes = false;
  options.avoid_flush_during_recovery = false;
  options.rate_limiter.reset();
  options.statistics = rocksdb::CreateDBStatistics();
  return options;
}

rocksdb::ColumnFamilyOptions WorkingOptions(const rocksdb::ColumnFamilyOptions& wanted) {
  rocksdb::ColumnFamilyOptions options = wanted;
  options.disable_auto_compactions = true;
  options.compaction_filter = nullptr;
  options.compaction_filter_factory.reset();
  options.ttl = 0;
  options.periodic_compaction_seconds = 0;
  return options;
}

void OpenWithNewOptions(const MigrationRequest& request, const std::string& directory,
                        const std::vector<MigratedFamily>& families) {
  const rocksdb::DBOptions options = ParsedOptions({request.wanted.db, {}, {}});
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(families.size());
  for (const MigratedFamily& family : families) {
    rocksdb::ColumnFamilyOptions wanted = family.wanted;
    wanted.compaction_filter = nullptr;
    wanted.compaction_filter_factory.reset();
    descriptors.emplace_back(family.name, wanted);
  }
  OpenStore store;
  store.Open(options, directory, descriptors);
  store.Close();
}

}  // namespace rocktune
