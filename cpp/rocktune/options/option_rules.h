#pragma once

#include <rocksdb/options.h>

#include <string>

namespace rocktune {

// Rules for values that SetOptions and SetDBOptions take and that RocksDB would correct when it opens the
// database. Each function returns the first rule that the options break, in words, or "".

std::string BrokenRule(const rocksdb::ColumnFamilyOptions& options);
std::string BrokenRule(const rocksdb::DBOptions& options);

}  // namespace rocktune
