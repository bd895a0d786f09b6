#pragma once

#include <rocksdb/env.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "rocktune/flsm/flsm_shape.h"

namespace rocktune {

// Keeps what of a store's shape its runs do not tell: layout, policies, which runs are sealed. A file of its
// own in the store's directory, replaced whole and synced.
//
// Thread-safe. Throws nothing.
class FlsmShapeFile {
 public:
  FlsmShapeFile(rocksdb::Env* env, const std::string& directory);

  bool Exists() const { return env_->FileExists(path_).ok(); }
  // NotFound, or Corruption with what is wrong. Of the runs only the sealed ones are there, without sizes.
  rocksdb::Status Read(FlsmShape* shape) const;
  // Does nothing when a change with a larger number has been written.
  rocksdb::Status Write(const FlsmShape& shape, uint64_t number);

 private:
  rocksdb::Env* const env_;
  const std::string directory_;
  const std::string path_;
  std::mutex mutex_;
  uint64_t written_ = 0;
};

}  // namespace rocktune
