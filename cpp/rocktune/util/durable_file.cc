#include "rocktune/util/durable_file.h"

#include <memory>

namespace rocktune {
namespace {

std::string PathOf(const std::string& directory, const std::string& name) { return directory + "/" + name; }
std::string UnfinishedPathOf(const std::string& directory, const std::string& name) {
  return PathOf(directory, name) + ".new";
}

rocksdb::Status SyncDirectory(rocksdb::Env* env, const std::string& path) {
  std::unique_ptr<rocksdb::Directory> directory;
  const rocksdb::Status status = env->NewDirectory(path, &directory);
  return status.ok() ? directory->Fsync() : status;
}

rocksdb::Status DeleteIfThere(rocksdb::Env* env, const std::string& path) {
  // DeleteFile returns an IOError for a missing file.
  const rocksdb::Status status = env->FileExists(path);
  return status.ok() ? env->DeleteFile(path) : status.IsNotFound() ? rocksdb::Status::OK() : status;
}

}  // namespace

rocksdb::Status ReplaceFile(rocksdb::Env* env, const std::string& directory, const std::string& name,
                            const std::string& text) {
  const std::string unfinished = UnfinishedPathOf(directory, name);
  rocksdb::Status status = rocksdb::WriteStringToFile(env, text, unfinished, /*should_sync=*/true);
  if (status.ok()) {
    status = env->RenameFile(unfinished, PathOf(directory, name));
  }
  // The rename is durable only once the directory is synced.
  return status.ok() ? SyncDirectory(env, directory) : status;
}

rocksdb::Status DeleteReplacedFile(rocksdb::Env* env, const std::string& directory, const std::string& name) {
  rocksdb::Status status = DeleteIfThere(env, UnfinishedPathOf(directory, name));
  if (status.ok()) {
    status = DeleteIfThere(env, PathOf(directory, name));
  }
  return status.ok() ? SyncDirectory(env, directory) : status;
}

}  // namespace rocktune
