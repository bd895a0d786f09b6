#pragma once

#include <rocksdb/env.h>
#include <rocksdb/status.h>

#include <string>

namespace rocktune {

// Replaces a file of a directory by `text`, as a whole: whatever happens, the file afterwards has its old
// content or `text`, and after OK it has `text` even when power fails. Writes `name`.new first, which a crash
// may leave behind; the next call replaces it. Callers exclude each other.
rocksdb::Status ReplaceFile(rocksdb::Env* env, const std::string& directory, const std::string& name,
                            const std::string& text);

// Deletes a file that ReplaceFile has made, and what a crash may have left of it. OK if there is none.
rocksdb::Status DeleteReplacedFile(rocksdb::Env* env, const std::string& directory, const std::string& name);

}  // namespace rocktune
