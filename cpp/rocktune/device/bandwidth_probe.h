#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <string>

namespace rocktune {

// The file that ProbeBandwidth writes. RocksDB takes it for a table that no database refers to, so that
// DB::Open deletes what a killed process has left of it. RocksDB itself never uses the name: its numbers
// begin with 1.
inline constexpr const char* kProbeFile = "000000.sst";
inline constexpr uint64_t kMaxProbeBytes = 64 << 20;
inline constexpr double kMaxProbeSeconds = 1;

// Measures the rate in bytes per second, at least 1, at which the device under an existing `directory` takes
// sequential writes: appends of 1 MiB through direct I/O, or buffered ones that are each synced where direct
// I/O is refused. Stops after kMaxProbeBytes or kMaxProbeSeconds; an append under way is finished and counts.
// The file is deleted before the function returns. What else uses the device meanwhile makes the rate
// smaller.
//
// Blocks the caller and uses one thread of its own. The directory may belong to an open database.
// Returns the file system's first status that is not OK.
rocksdb::IOStatus ProbeBandwidth(rocksdb::FileSystem* file_system, const std::string& directory,
                                 uint64_t* bytes_per_s);

}  // namespace rocktune
