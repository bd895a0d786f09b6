#pragma once

#include <string>
#include <vector>

#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// A change of a database's options that needs its data written again.
struct MigrationRequest {
  std::string source;  // directory of the database
  std::string target;  // directory of the copy; "" to rewrite the database in place
  // By family: the present `comparator`, `merge_operator`, `compaction_style` and `num_levels`, as the
  // database's OPTIONS file has them; and the present `wal_dir` in `db`.
  OptionMaps present;
  // The new options of the database and of each family, all of them.
  OptionMaps wanted;
  // The families to rewrite in place; the others only get their new options.
  std::vector<std::string> rewritten;
};

}  // namespace rocktune
