#include "rocktune/migrate/store_rewrite.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "rocktune/migrate/compaction.h"
#include "rocktune/migrate/source_store.h"
#include "rocktune/migrate/verification.h"
#include "rocktune/runner/run_error.h"

namespace rocktune {
namespace {

// The database before it is changed.
struct Before {
  std::vector<MigratedFamily> families;
  std::vector<FamilySize> sizes;
  std::vector<FamilyDigest> digests;
  std::string state;
  uint64_t raw_bytes = 0;
};

bool IsRewritten(const MigrationRequest& request, const MigratedFamily& family) {
  return family.reshaped() || std::find(request.rewritten.begin(), request.rewritten.end(), family.name) !=
                                  request.rewritten.end();
}

Before Examine(const MigrationRequest& request, rocksdb::Env* env, const Progress& progress) {
  const SourceStore source(request, env);
  uint64_t max_bytes = 0;  // families are compacted one after the other
  for (std::size_t index = 0; index < source.families().size(); ++index) {
    const MigratedFamily& family = source.families()[index];
    if (family.reversed()) {
      throw RunError(RunFailure::kInvalid, "column family '" + family.name +
                                               "': another comparator needs a copy in another directory");
    }
    if (IsRewritten(request, family)) {
      max_bytes = std::max({max_bytes, source.sizes()[index].stored_bytes, source.sizes()[index].raw_bytes});
    }
  }
  CheckSpace(env, request.source, max_bytes);
  ByteProgress checked("check", source.RawBytes(), progress);
  return {source.families(), source.sizes(), DigestsOf(source.store(), source.families(), true, &checked),
          source.State(), source.RawBytes()};
}

// Returns the options under which a family is compacted: the new ones in the present shape.
rocksdb::ColumnFamilyOptions CompactingOptions(const MigratedFamily& family) {
  rocksdb::ColumnFamilyOptions options = WorkingOptions(family.wanted);
  options.merge_operator = family.present.merge_operator;  // its operands are merged
  if (family.reshaped()) {
    options.compaction_style = family.present.compaction_style;
    options.num_levels = std::max(family.present.num_levels, family.wanted.num_levels);
    if (family.wanted.num_levels == 1) {  // level 0 takes one sorted run only as one table
      options.target_file_size_base = std::numeric_limits<uint64_t>::max() / 2;
      options.target_file_size_multiplier = 1;
    }
  }
  return options;
}

void Compact(const MigrationRequest& request, const Before& before, rocksdb::Env* env,
             const Progress& progress) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(before.families.size());
  for (const MigratedFamily& family : before.families) {
    descriptors.emplace_back(family.name, CompactingOptions(family));
  }
  OpenStore store;
  rocksdb::DBOptions options = WorkingOptions(request, env);
  options.wal_dir = ReadingOptions(request.present, env).wal_dir;  // entries in it become tables
  store.Open(options, request.source, descriptors);
  if (StateOf(store, request.source) != before.state) {
    throw RunError(RunFailure::kInvalid,
                   request.source + " was changed by another program meanwhile; stop it and begin again");
  }
  for (std::size_t index = 0; index < before.families.size(); ++index) {
    const MigratedFamily& family = before.families[index];
    if (IsRewritten(request, family)) {
      const std::optional<int> level =
          family.reshaped() ? std::optional(family.wanted.num_levels - 1) : std::nullopt;
      CompactWhole(store, index, level, "rewrite", before.sizes[index].raw_bytes, progress);
    }
  }
  store.Close();
}

}  // namespace

std::vector<FamilyDigest> RewriteStore(const MigrationRequest& request, rocksdb::Env* env,
                                       const Progress& progress) {
  const Before before = Examine(request, env, progress);
  Compact(request, before, env, progress);
  OpenWithNewOptions(request, request.source, before.families);
  ByteProgress verified("verify", before.raw_bytes, progress);
  return Verified(request, request.source, before.families, before.digests, env, &verified);
}

}  // namespace rocktune
