#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "rocktune/device/stored_files.h"
#include "rocktune/device/throttle.h"

namespace rocktune {

// The kind of a store's file. I/O of tables and write-ahead logs passes the device; that of metadata does
// not.
enum class FileKind {
  kTable,     // .sst and .blob
  kWal,       // .log; RocksDB's information log is named LOG
  kMetadata,  // all others
};

// Returns the kind of the file at `path`, by the suffix of the name.
FileKind FileKindOf(std::string_view path);

// The functions below wrap a file of another file system. A wrapper forwards each call to `base` and then
// waits, in Throttle::Pass, for the time that the device needs for the bytes that were read or written.
//
// Ownership: a wrapper owns `base`; `throttle` and `stored_files` must outlive it.
// Threads: as RocksDB's interface of the wrapped file requires.
// Failure: returns the status of `base`; a failed call waits for nothing and is not counted.

// Wraps a file that is read from its beginning to its end.
std::unique_ptr<rocksdb::FSSequentialFile> ThrottleSequentialFile(
    std::unique_ptr<rocksdb::FSSequentialFile> base, FileKind kind, Throttle* throttle);

// Wraps a file that is read at any offset. Prefetch returns NotSupported; asynchronous reads complete before
// they return.
std::unique_ptr<rocksdb::FSRandomAccessFile> ThrottleRandomAccessFile(
    std::unique_ptr<rocksdb::FSRandomAccessFile> base, FileKind kind, Throttle* throttle);

// Wraps a file that is appended to. `stored` is the file's entry in `stored_files`. The first append goes to
// the offset `position`. An append beyond the device's capacity returns NoSpace and writes nothing.
std::unique_ptr<rocksdb::FSWritableFile> ThrottleWritableFile(std::unique_ptr<rocksdb::FSWritableFile> base,
                                                              FileKind kind, Throttle* throttle,
                                                              StoredFiles* stored_files,
                                                              std::shared_ptr<StoredFiles::File> stored,
                                                              uint64_t position);

// Wraps a file that is read and written at any offset. Its writes do not count against the capacity: RocksDB
// writes in place only to change a few bytes of a table that it ingests.
std::unique_ptr<rocksdb::FSRandomRWFile> ThrottleRandomRWFile(std::unique_ptr<rocksdb::FSRandomRWFile> base,
                                                              FileKind kind, Throttle* throttle);

}  // namespace rocktune
