#include "rocktune/flsm/migration_target.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "rocktune/util/durable_file.h"

namespace rocktune {
namespace {

constexpr const char* kCurrent = "CURRENT";
constexpr const char* kLock = "LOCK";
constexpr std::size_t kCopiedBytes = 1 << 20;

// True for files that are never changed once they are written, and may therefore have several names.
bool IsImmutable(const std::string& name) { return name.ends_with(".sst") || name.ends_with(".blob"); }

// True for files of a database that its clone needs. CURRENT is copied by itself.
bool IsCloned(const std::string& name) {
  return IsImmutable(name) || name.ends_with(".log") || name.starts_with("MANIFEST-") ||
         name.starts_with("OPTIONS-") || name == "IDENTITY";
}

// Copies a file durably.
rocksdb::Status Copy(rocksdb::Env* env, const std::string& from, const std::string& to) {
  std::unique_ptr<rocksdb::SequentialFile> in;
  std::unique_ptr<rocksdb::WritableFile> out;
  rocksdb::Status status = env->NewSequentialFile(from, &in, rocksdb::EnvOptions());
  if (status.ok()) {
    status = env->NewWritableFile(to, &out, rocksdb::EnvOptions());
  }
  std::vector<char> buffer(kCopiedBytes);
  rocksdb::Slice read("-");
  while (status.ok() && !read.empty()) {
    status = in->Read(buffer.size(), &read, buffer.data());
    status = status.ok() && !read.empty() ? out->Append(read) : status;
  }
  if (status.ok()) {
    status = out->Sync();
  }
  return status.ok() ? out->Close() : status;
}

}  // namespace

MigrationTarget::MigrationTarget(rocksdb::Env* env, const std::string& kind, std::string source,
                                 std::string target)
    : env_(env),
      source_(std::move(source)),
      target_(std::move(target)),
      marker_(env, target_, nlohmann::json{{"migration", kind}, {"source", source_}}.dump()) {}

rocksdb::Status MigrationTarget::Begin() {
  if (!env_->FileExists(source_ + "/" + kCurrent).ok()) {
    return rocksdb::Status::InvalidArgument(source_, "is no RocksDB database");
  }
  bool continues = false;
  return marker_.Begin(&continues);
}

rocksdb::Status MigrationTarget::Clear() {
  std::vector<std::string> names;
  rocksdb::Status status = env_->GetChildren(target_, &names);
  for (const std::string& name : names) {
    if (status.ok() && IsCloned(name)) {
      status = env_->DeleteFile(target_ + "/" + name);
    }
  }
  return status;
}

rocksdb::Status MigrationTarget::CloneFiles() {
  std::vector<std::string> names;
  rocksdb::Status status = env_->GetChildren(source_, &names);
  for (const std::string& name : names) {
    if (!status.ok() || !IsCloned(name)) {
      continue;
    }
    const std::string from = source_ + "/" + name;
    const std::string to = target_ + "/" + name;
    if (!IsImmutable(name) || !env_->LinkFile(from, to).ok()) {
      status = Copy(env_, from, to);
    }
  }
  std::string current;
  if (status.ok()) {
    status = rocksdb::ReadFileToString(env_, source_ + "/" + kCurrent, &current);
  }
  return status.ok() ? ReplaceFile(env_, target_, kCurrent, current) : status;
}

rocksdb::Status MigrationTarget::Clone() {
  rocksdb::Status status = Begin();
  if (!status.ok() || env_->FileExists(target_ + "/" + kCurrent).ok()) {
    return status;
  }
  rocksdb::FileLock* lock = nullptr;
  status = env_->LockFile(source_ + "/" + kLock, &lock);
  if (!status.ok()) {
    return rocksdb::Status::IOError(source_ + " is open; close it, or migrate a checkpoint of it",
                                    status.ToString());
  }
  status = Clear();
  if (status.ok()) {
    status = CloneFiles();
  }
  env_->UnlockFile(lock).PermitUncheckedError();
  return status;
}

rocksdb::Status MigrationTarget::Finish() { return marker_.Finish(); }

}  // namespace rocktune
