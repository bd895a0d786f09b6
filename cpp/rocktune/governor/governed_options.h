#pragma once

#include <rocksdb/options.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "rocktune/governor/governor_policy.h"

namespace rocktune {

// Values of a column family's options by name, in the form of SetOptions' argument.
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

// Returns the governed options among a column family's options.
GovernedOptions GovernedOptionsOf(const rocksdb::ColumnFamilyOptions& options);
// Returns the changes that set every governed option.
OptionChanges ToChanges(const GovernedOptions& options);

// The compaction debt at which writes stop. 0 means no bound.
struct DebtBounds {
  uint64_t runs = 0;   // tables in level 0
  uint64_t bytes = 0;  // bytes that compactions have yet to rewrite

  bool operator==(const DebtBounds&) const = default;
};

// Returns the triggers that a governor sets: writes stop at a bound and are slowed from kSlowdownShare of it.
// If the present debt `owed` exceeds that, the triggers begin above the debt, so that raising them never
// stops writes at once. disable_auto_compactions is false in the result.
GovernedOptions RaisedTriggers(const DebtBounds& bounds, const DebtBounds& owed);

// True if RaisedTriggers returns these triggers for the bounds and some debt, which means that a governor set
// them. Ignores disable_auto_compactions.
bool AreRaisedTriggers(const GovernedOptions& options, const DebtBounds& bounds);

// Returns the smallest bound of runs, other than 0, whose slowdown trigger exceeds
// level0_file_num_compaction_trigger.
uint64_t MinDebtRuns(int compaction_trigger);

}  // namespace rocktune
