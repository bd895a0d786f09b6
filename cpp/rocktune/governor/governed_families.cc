#include "rocktune/governor/governed_families.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "rocktune/governor/original_options.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

GovernedFamilies::Handles OrDefault(rocksdb::DB* db, const GovernedFamilies::Handles& families) {
  return families.empty() ? GovernedFamilies::Handles{db->DefaultColumnFamily()} : families;
}

}  // namespace

rocksdb::Status GovernedFamilies::Check(rocksdb::DB* db, const Handles& families,
                                        const GovernorLimits& limits) const {
  std::set<uint32_t> attached;
  for (const GovernedFamily* each : OfDatabase(db)) {
    attached.insert(each->family()->GetID());
  }
  for (rocksdb::ColumnFamilyHandle* family : OrDefault(db, families)) {
    if (!attached.insert(family->GetID()).second) {
      return rocksdb::Status::InvalidArgument("column family '" + family->GetName() +
                                              "' is attached already; detach the database first");
    }
    if (rocksdb::Status status = GovernedFamily::Check(db, family, limits); !status.ok()) {
      return status;
    }
  }
  return CheckWritable(db);
}

rocksdb::Status GovernedFamilies::Attach(rocksdb::DB* db, const Handles& families,
                                         const GovernorLimits& limits) {
  const Handles wanted = OrDefault(db, families);
  rocksdb::Status status = Check(db, wanted, limits);
  OriginalsByFamily originals;
  if (status.ok()) {
    status = ReadOriginals(db, &originals);
  }
  if (!status.ok()) {
    return status;
  }
  GovernedFamilies added;
  for (rocksdb::ColumnFamilyHandle* family : wanted) {
    const OriginalOptions original =
        OriginalOptionsOf(originals, family->GetName(), GovernedOptionsOf(db->GetOptions(family)),
                          {limits.debt_runs, limits.debt_bytes});
    originals[family->GetName()] = original;
    added.families_.push_back(std::make_unique<GovernedFamily>(
        db, family, original.options, DebtBounds{limits.debt_runs, limits.debt_bytes}));
  }
  // Before the first change: a kill in between must not lose the original options.
  status = WriteOriginals(db, originals);
  for (const std::unique_ptr<GovernedFamily>& each : added) {
    status = status.ok() ? each->RaiseTriggers(limits) : status;
  }
  if (!status.ok()) {
    added.Detach(db).PermitUncheckedError();
    return status;
  }
  std::move(added.families_.begin(), added.families_.end(), std::back_inserter(families_));
  return status;
}

rocksdb::Status GovernedFamilies::AdoptChanges(const GovernorLimits& limits) {
  rocksdb::Status first;
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    if (!each->AdoptChanges() || each->detaching) {
      continue;
    }
    OriginalsByFamily originals;
    rocksdb::Status status = ReadOriginals(each->db(), &originals);
    originals[each->family()->GetName()].options = each->original();
    // Before the change, as in Attach.
    status = status.ok() ? WriteOriginals(each->db(), originals) : status;
    status = status.ok() ? each->RaiseTriggersAgain(limits) : status;
    first = first.ok() ? status : first;
  }
  return first;
}

rocksdb::Status GovernedFamilies::Detach(rocksdb::DB* db, const rocksdb::ColumnFamilyHandle* only) {
  rocksdb::Status first;
  std::set<std::string> restored;
  const auto restore = [&](const std::unique_ptr<GovernedFamily>& each) {
    if (each->db() != db || (only != nullptr && each->family()->GetID() != only->GetID())) {
      return false;
    }
    const rocksdb::Status status = each->Restore();
    first = first.ok() ? status : first;
    if (status.ok()) {
      restored.insert(each->family()->GetName());
    }
    return status.ok();
  };
  families_.erase(std::remove_if(families_.begin(), families_.end(), restore), families_.end());
  OriginalsByFamily originals;
  if (!restored.empty() && ReadOriginals(db, &originals).ok()) {
    std::erase_if(originals, [&](const auto& each) { return restored.contains(each.first); });
    // A stale file is harmless: it counts only for families whose triggers are a governor's.
    WriteOriginals(db, originals).PermitUncheckedError();
  }
  return first;
}

rocksdb::Status GovernedFamilies::Recover(rocksdb::DB* db, const Handles& families) {
  OriginalsByFamily originals;
  rocksdb::Status status = CheckWritable(db);
  if (status.ok()) {
    status = ReadOriginals(db, &originals);
  }
  if (!status.ok()) {
    return status;
  }
  GovernedFamilies killed;
  for (rocksdb::ColumnFamilyHandle* family : OrDefault(db, families)) {
    if (originals.contains(family->GetName())) {
      const OriginalOptions original =
          OriginalOptionsOf(originals, family->GetName(), GovernedOptionsOf(db->GetOptions(family)), {});
      killed.families_.push_back(
          std::make_unique<GovernedFamily>(db, family, original.options, DebtBounds{}));
    }
  }
  return killed.Detach(db);
}

std::vector<GovernedFamily*> GovernedFamilies::OfDatabase(const rocksdb::DB* db) const {
  std::vector<GovernedFamily*> found;
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    if (each->db() == db) {
      found.push_back(each.get());
    }
  }
  return found;
}

bool GovernedFamilies::Contains(const rocksdb::DB* db, const rocksdb::ColumnFamilyHandle* family) const {
  const std::vector<GovernedFamily*> attached = OfDatabase(db);
  return std::any_of(attached.begin(), attached.end(), [family](const GovernedFamily* each) {
    return each->family()->GetID() == family->GetID();
  });
}

std::set<rocksdb::DB*> GovernedFamilies::Databases() const {
  std::set<rocksdb::DB*> databases;
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    databases.insert(each->db());
  }
  return databases;
}

}  // namespace rocktune
