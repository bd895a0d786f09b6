#include "rocktune/device/stored_files.h"

#include <filesystem>
#include <unordered_set>
#include <utility>

namespace rocktune {
namespace {

// Returns one spelling of a path: RocksDB spells the same path with one slash or two.
std::string NormalPath(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

}  // namespace

uint64_t StoredFiles::bytes() const {
  if (capacity_bytes_ != 0) {
    return bytes_.load(std::memory_order_relaxed);
  }
  return Total(false);
}

uint64_t StoredFiles::all_bytes() const { return Total(true); }

uint64_t StoredFiles::Total(bool adopted) const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t total = 0;
  std::unordered_set<const File*> linked;  // links share a file
  for (const auto& [path, file] : files_) {
    if ((adopted || !file->adopted_) && (file->links_ == 1 || linked.insert(file.get()).second)) {
      total += file->bytes();
    }
  }
  return total;
}

void StoredFiles::Adopt(const std::string& path, uint64_t bytes) {
  auto file = std::make_shared<File>();
  file->bytes_.store(bytes, std::memory_order_relaxed);
  file->adopted_ = true;
  std::lock_guard<std::mutex> lock(mutex_);
  files_[NormalPath(path)] = std::move(file);
}

std::shared_ptr<StoredFiles::File> StoredFiles::Create(const std::string& path) {
  const std::string normal_path = NormalPath(path);
  std::lock_guard<std::mutex> lock(mutex_);
  RemoveLocked(normal_path);
  return files_[normal_path] = std::make_shared<File>();
}

std::shared_ptr<StoredFiles::File> StoredFiles::Open(const std::string& path, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<File>& file = files_[NormalPath(path)];
  if (file == nullptr) {
    file = std::make_shared<File>();
    file->bytes_.store(bytes, std::memory_order_relaxed);
    file->adopted_ = true;
  }
  if (file->adopted_) {
    file->adopted_ = false;
    if (capacity_bytes_ != 0) {
      bytes_.fetch_add(file->bytes(), std::memory_order_relaxed);
    }
  }
  return file;
}

bool StoredFiles::GrowWithin(File* file, uint64_t bytes) {
  const uint64_t before = file->bytes();
  if (bytes <= before) {
    return true;
  }
  const uint64_t growth = bytes - before;
  // Reserved first and released if it exceeds the capacity, so that two writers cannot both get the last
  // bytes.
  const uint64_t stored = bytes_.fetch_add(growth, std::memory_order_relaxed) + growth;
  if (stored > capacity_bytes_) {
    bytes_.fetch_sub(growth, std::memory_order_relaxed);
    return false;
  }
  file->bytes_.store(bytes, std::memory_order_relaxed);
  return true;
}

void StoredFiles::Shrink(File* file, uint64_t bytes) {
  const uint64_t before = file->bytes();
  if (bytes < before) {
    file->bytes_.store(bytes, std::memory_order_relaxed);
    if (capacity_bytes_ != 0 && !file->adopted_) {
      bytes_.fetch_sub(before - bytes, std::memory_order_relaxed);
    }
  }
}

void StoredFiles::Truncate(const std::string& path, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = files_.find(NormalPath(path));
  if (found != files_.end()) {
    Shrink(found->second.get(), bytes);
  }
}

void StoredFiles::Remove(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  RemoveLocked(NormalPath(path));
}

void StoredFiles::Rename(const std::string& from, const std::string& to) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string normal_to = NormalPath(to);
  // Extracted before the removal: RocksDB may rename a file to its own name.
  auto node = files_.extract(NormalPath(from));
  RemoveLocked(normal_to);
  if (!node.empty()) {
    node.key() = normal_to;
    files_.insert(std::move(node));
  }
}

void StoredFiles::Link(const std::string& from, const std::string& to) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = files_.find(NormalPath(from));
  if (found != files_.end()) {
    const std::shared_ptr<File> file = found->second;
    ++file->links_;
    files_[NormalPath(to)] = file;
  }
}

void StoredFiles::RemoveLocked(const std::string& normal_path) {
  const auto found = files_.find(normal_path);
  if (found == files_.end()) {
    return;
  }
  if (--found->second->links_ == 0) {
    Shrink(found->second.get(), 0);
  }
  files_.erase(found);
}

}  // namespace rocktune
