#pragma once

#include <rocksdb/options.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "rocktune/governor/governor_policy.h"

namespace rocktune {

// Options of a column family by their names, as SetOptions takes them.
using OptionChanges = std::unordered_map<std::string, std::string>;

// The options of a column family that a governor changes.
struct GovernedOptions {
  bool disable_auto_compactions = false;
  int64_t level0_slowdown_writes_trigger = 0;
  int64_t level0_stop_writes_trigger = 0;
  uint64_t soft_pending_compaction_bytes_limit = 0;
  uint64_t hard_pending_compaction_bytes_limit = 0;

  bool operator==(const GovernedOptions&) const = default;
};

inline constexpr const char* kDisableAutoCompactions = "disable_auto_compactions";

GovernedOptions GovernedOptionsOf(const rocksdb::ColumnFamilyOptions& options);
// All of them.
OptionChanges ToChanges(const GovernedOptions& options);

// What compaction may owe before writes stop; 0 for no bound.
struct DebtBounds {
  uint64_t runs = 0;
  uint64_t bytes = 0;

  bool operator==(const DebtBounds&) const = default;
};

// Returns the triggers that a governor sets: writes stop at the bounds and are slowed at kSlowedShare of
// them. What is owed already is below both. disable_auto_compactions is false.
GovernedOptions RaisedTriggers(const DebtBounds& bounds, const DebtBounds& owed);

// True if RaisedTriggers gives these triggers for these bounds and some debt.
bool AreRaisedTriggers(const GovernedOptions& options, const DebtBounds& bounds);

// Returns the smallest bound of runs whose slowdown is above level0_file_num_compaction_trigger; 0, which is
// no bound, is always allowed.
uint64_t MinDebtRuns(int compaction_trigger);

}  // namespace rocktune
