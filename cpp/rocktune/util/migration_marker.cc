#include "rocktune/util/migration_marker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rocktune/util/durable_file.h"

namespace rocktune {
namespace {

constexpr const char* kMarker = "ROCKTUNE_MIGRATION";

}  // namespace

MigrationMarker::MigrationMarker(rocksdb::Env* env, std::string directory, std::string text)
    : env_(env), directory_(std::move(directory)), text_(std::move(text)) {}

rocksdb::Status MigrationMarker::Begin(bool* continues) {
  *continues = false;
  rocksdb::Status status = env_->CreateDirIfMissing(directory_);
  std::vector<std::string> names;
  if (status.ok()) {
    status = env_->GetChildren(directory_, &names);
  }
  std::erase_if(names, [](const std::string& name) {
    // The marker's first write may have been killed.
    return name == "." || name == ".." || name == std::string(kMarker) + ".new";
  });
  if (!status.ok() || names.empty()) {
    return status.ok() ? ReplaceFile(env_, directory_, kMarker, text_) : status;
  }
  if (std::find(names.begin(), names.end(), kMarker) == names.end()) {
    return rocksdb::Status::InvalidArgument(directory_, "is not empty; choose another directory");
  }
  std::string found;
  status = rocksdb::ReadFileToString(env_, directory_ + "/" + kMarker, &found);
  if (status.ok() && found != text_) {
    return rocksdb::Status::InvalidArgument(
        directory_, "holds another migration, " + found + "; finish that one or choose another directory");
  }
  *continues = status.ok();
  return status;
}

rocksdb::Status MigrationMarker::Finish() { return DeleteReplacedFile(env_, directory_, kMarker); }

}  // namespace rocktune
