#include "rocktune/migrate/verification.h"

#include "rocktune/runner/run_error.h"

namespace rocktune {
namespace {

std::string Described(const FamilyDigest& digest) {
  return std::to_string(digest.entries) + " entries with checksum " + std::to_string(digest.checksum);
}

}  // namespace

std::vector<FamilyDigest> DigestsOf(const OpenStore& store, const std::vector<MigratedFamily>& families,
                                    bool in_new_order, ByteProgress* progress) {
  std::vector<FamilyDigest> digests;
  digests.reserve(families.size());
  for (std::size_t index = 0; index < families.size(); ++index) {
    const bool backwards = in_new_order && families[index].reversed();
    digests.push_back(DigestOf(store.db(), store.family(index), families[index], backwards, progress));
  }
  return digests;
}

std::vector<FamilyDigest> Verified(const MigrationRequest& request, const std::string& directory,
                                   const std::vector<MigratedFamily>& families,
                                   const std::vector<FamilyDigest>& before, rocksdb::Env* env,
                                   ByteProgress* progress) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(families.size());
  for (const MigratedFamily& family : families) {
    descriptors.emplace_back(family.name, WorkingOptions(family.wanted));
  }
  OpenStore store;
  store.OpenReadOnly(ReadingOptions(request.wanted, env), directory, descriptors);
  std::vector<FamilyDigest> after = DigestsOf(store, families, false, progress);
  for (std::size_t index = 0; index < after.size(); ++index) {
    if (after[index] != before[index]) {
      throw RunError(RunFailure::kCrashed, "column family '" + families[index].name + "' of " + directory +
                                               " has " + Described(after[index]) + ", and not " +
                                               Described(before[index]) + "; do not use it");
    }
  }
  return after;
}

}  // namespace rocktune
