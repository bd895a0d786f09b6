#include "rocktune/options/stall_triggers.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "rocktune/governor/governed_options.h"

namespace rocktune {
namespace {

using Names = std::initializer_list<const char*>;

constexpr const char* kCompactionTrigger = "level0_file_num_compaction_trigger";
constexpr Names kLevel0Triggers = {"level0_slowdown_writes_trigger", "level0_stop_writes_trigger"};
constexpr Names kByteTriggers = {"soft_pending_compaction_bytes_limit",
                                 "hard_pending_compaction_bytes_limit"};

void Move(Names names, OptionMaps::Map* from, OptionMaps::Map* to) {
  for (const char* name : names) {
    to->insert(from->extract(name));
  }
}

// Returns true if `owed` has reached a trigger that is lower than before. 0 means no trigger.
bool StopsAt(uint64_t trigger, uint64_t before, uint64_t owed) {
  return trigger != 0 && (before == 0 || trigger < before) && owed >= trigger;
}

uint64_t Property(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, const char* name) {
  std::string text;
  return db->GetProperty(family, name, &text) ? std::stoull(text) : 0;
}

}  // namespace

bool IsGoverned(rocksdb::DB* db, const OriginalsByFamily& governed, rocksdb::ColumnFamilyHandle* family) {
  const auto found = governed.find(family->GetName());
  if (found == governed.end()) {
    return false;
  }
  const GovernedOptions now = GovernedOptionsOf(db->GetOptions(family));
  const auto raised = [&](const DebtBounds& bounds) { return AreRaisedTriggers(now, bounds); };
  return std::any_of(found->second.bounds.begin(), found->second.bounds.end(), raised);
}

OptionMaps::Map TakeHarmfulTriggers(const LiveOptions& live, rocksdb::ColumnFamilyHandle* family, bool held,
                                    OptionMaps::Map* changes, std::string* reason) {
  OptionMaps::Map taken;
  const rocksdb::ColumnFamilyOptions now = live.db()->GetOptions(family);
  rocksdb::ColumnFamilyOptions next;
  if (!live.With(family, *changes, &next).ok()) {
    return taken;  // SetOptions reports it
  }
  const std::string named = "column family '" + family->GetName() + "'";
  const uint64_t files = Property(live.db(), family, "rocksdb.num-files-at-level0");
  const uint64_t bytes = Property(live.db(), family, "rocksdb.estimate-pending-compaction-bytes");
  if (held) {
    Move({kDisableAutoCompactions}, changes, &taken);
    Move(kLevel0Triggers, changes, &taken);
    Move(kByteTriggers, changes, &taken);
    if (!taken.empty()) {
      *reason = "a CompactionGovernor holds options of " + named + " until it is detached";
    }
  } else if (StopsAt(next.level0_slowdown_writes_trigger, now.level0_slowdown_writes_trigger, files) ||
             StopsAt(next.level0_stop_writes_trigger, now.level0_stop_writes_trigger, files)) {
    Move(kLevel0Triggers, changes, &taken);
    *reason = "level 0 of " + named + " has " + std::to_string(files) +
              " files, so lower triggers would slow writes";
  }
  if (StopsAt(next.soft_pending_compaction_bytes_limit, now.soft_pending_compaction_bytes_limit, bytes) ||
      StopsAt(next.hard_pending_compaction_bytes_limit, now.hard_pending_compaction_bytes_limit, bytes)) {
    Move(kByteTriggers, changes, &taken);
    *reason =
        named + " has " + std::to_string(bytes) + " bytes to compact, so lower limits would slow writes";
  }
  // RocksDB asserts that it compacts level 0 before it slows writes.
  if (!taken.empty() && next.level0_file_num_compaction_trigger > now.level0_slowdown_writes_trigger) {
    Move({kCompactionTrigger}, changes, &taken);
  }
  return taken;
}

}  // namespace rocktune
