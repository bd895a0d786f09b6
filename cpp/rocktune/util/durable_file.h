#pragma once

#include <rocksdb/env.h>
#include <rocksdb/status.h>

#include <string>

namespace rocktune {

// Replaces the content of the file `directory`/`name` by `text`, atomically and durably. A reader, also after
// a crash, finds the old content or `text`; after OK it finds `text`, even after a power cut. The function
// writes the file `name`.new and renames it. A crash may leave that file; the next call overwrites it.
// Returns the first error of the Env; the file then has the old content or `text`.
// Not thread-safe: concurrent calls for one file must be excluded by the caller.
rocksdb::Status ReplaceFile(rocksdb::Env* env, const std::string& directory, const std::string& name,
                            const std::string& text);

// Deletes the file `directory`/`name` of ReplaceFile, and `name`.new if a crash has left it. Returns OK if
// neither exists, and otherwise the first error of the Env.
rocksdb::Status DeleteReplacedFile(rocksdb::Env* env, const std::string& directory, const std::string& name);

}  // namespace rocktune
