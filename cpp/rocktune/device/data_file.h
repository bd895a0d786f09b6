#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "rocktune/device/stored_files.h"
#include "rocktune/device/throttle.h"

namespace rocktune {

// What a store keeps in a file, told by the end of its name. Only data has to pass the device: tables (.sst
// and .blob) and write-ahead logs (.log, which RocksDB's information log, LOG, is not).
enum class FileKind { kTable, kWal, kMetadata };

FileKind FileKindOf(std::string_view path);

// The wrappers below forward to `base`, which they own, and then let the time pass that the device needs
// for what was done; what fails is passed on and costs nothing. What they point to must outlive them.
// Threads: as RocksDB's interfaces say.

std::unique_ptr<rocksdb::FSSequentialFile> ThrottleSequentialFile(
    std::unique_ptr<rocksdb::FSSequentialFile> base, FileKind kind, Throttle* throttle);

std::unique_ptr<rocksdb::FSRandomAccessFile> ThrottleRandomAccessFile(
    std::unique_ptr<rocksdb::FSRandomAccessFile> base, FileKind kind, Throttle* throttle);

// `stored` is the file's entry in `stored_files`; writing starts at `position`.
std::unique_ptr<rocksdb::FSWritableFile> ThrottleWritableFile(std::unique_ptr<rocksdb::FSWritableFile> base,
                                                              FileKind kind, Throttle* throttle,
                                                              StoredFiles* stored_files,
                                                              std::shared_ptr<StoredFiles::File> stored,
                                                              uint64_t position);

std::unique_ptr<rocksdb::FSRandomRWFile> ThrottleRandomRWFile(std::unique_ptr<rocksdb::FSRandomRWFile> base,
                                                              FileKind kind, Throttle* throttle);

}  // namespace rocktune
