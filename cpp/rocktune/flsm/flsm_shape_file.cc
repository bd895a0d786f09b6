#include "rocktune/flsm/flsm_shape_file.h"

#include <nlohmann/json.hpp>

#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/util/durable_file.h"

namespace rocktune {
namespace {

constexpr const char* kName = "FLSM";
// A name of RocksDB's temporary files: BackupEngine restores it, DestroyDB deletes it, and so does a stock
// RocksDB that opens the copy, after which its tree is no FLSM-tree. RocksDB's own numbers begin with 1.
constexpr const char* kCarried = "000000.dbtmp";
constexpr const char* kCurrent = "CURRENT";
constexpr int kFormat = 1;
// Format 1 calls the policy of the deepest level by the paper's word, the largest one.
constexpr const char* kDeepestPolicy = "largest_policy";
constexpr int kMaxSlots = 1000;

nlohmann::json ToJson(const FlsmShape& shape) {
  nlohmann::json levels = nlohmann::json::array();
  for (const FlsmLevel& level : shape.levels) {
    std::vector<int> sealed;
    for (const FlsmRun& run : level.runs) {
      if (run.sealed && run.bytes > 0) {
        sealed.push_back(run.physical);
      }
    }
    levels.push_back({{"policy", level.policy},
                      {"next_policy", level.next_policy},
                      {"push", level.push},
                      {"sealed", sealed}});
  }
  return {
      {"format", kFormat},    {"size_ratio", shape.size_ratio},       {"level1_bytes", shape.level1_bytes},
      {"slots", shape.slots}, {kDeepestPolicy, shape.deepest_policy}, {"levels", levels}};
}

// Throws nlohmann's exceptions for what is no shape.
FlsmShape FromJson(const nlohmann::json& json) {
  FlsmShape shape;
  shape.size_ratio = json.at("size_ratio").get<int>();
  shape.level1_bytes = json.at("level1_bytes").get<uint64_t>();
  shape.slots = json.at("slots").get<int>();
  shape.deepest_policy = json.at(kDeepestPolicy).get<int>();
  for (const nlohmann::json& each : json.at("levels")) {
    FlsmLevel level;
    level.policy = each.at("policy").get<int>();
    level.next_policy = each.at("next_policy").get<int>();
    level.push = each.at("push").get<bool>();
    for (const nlohmann::json& physical : each.at("sealed")) {
      level.runs.push_back({physical.get<int>(), 0, true, RunUse::kIdle});
    }
    shape.levels.push_back(level);
  }
  return shape;
}

std::string Nonsense(const FlsmShape& shape) {
  if (shape.size_ratio < 2 || shape.slots < shape.size_ratio + 2 || shape.slots > kMaxSlots ||
      shape.level1_bytes == 0 || shape.deepest_policy < 0 || shape.deepest_policy > shape.size_ratio ||
      shape.levels.empty() || shape.deepest() > kMaxFlsmLevels) {
    return "its layout makes no sense";
  }
  return Broken(shape);
}

}  // namespace

FlsmShapeFile::FlsmShapeFile(rocksdb::Env* env, const std::string& directory)
    : env_(env), directory_(directory) {}

bool FlsmShapeFile::Exists(const std::string& name) const { return env_->FileExists(PathOf(name)).ok(); }

bool FlsmShapeFile::HasDatabase() const { return Exists(kCurrent); }

rocksdb::Status FlsmShapeFile::Read(FlsmShape* shape) const {
  // A carried file is there only until it is adopted, so it is newer than what a restored backup met.
  const std::string path = PathOf(Exists(kCarried) ? kCarried : kName);
  if (!HasDatabase() || !env_->FileExists(path).ok()) {
    return rocksdb::Status::NotFound(directory_, "is no FLSM store");
  }
  std::string text;
  rocksdb::Status status = rocksdb::ReadFileToString(env_, path, &text);
  if (!status.ok()) {
    return status;
  }
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", nlohmann::json()) != kFormat) {
    return rocksdb::Status::Corruption(path, "is no shape of an FLSM store that this version knows");
  }
  try {
    *shape = FromJson(json);
  } catch (const nlohmann::json::exception& error) {
    return rocksdb::Status::Corruption(path, error.what());
  }
  const std::string nonsense = Nonsense(*shape);
  return nonsense.empty() ? status : rocksdb::Status::Corruption(path, nonsense);
}

rocksdb::Status FlsmShapeFile::Adopt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!Exists(kCarried)) {
    return rocksdb::Status::OK();
  }
  std::string text;
  rocksdb::Status status = rocksdb::ReadFileToString(env_, PathOf(kCarried), &text);
  if (status.ok()) {
    status = ReplaceFile(env_, directory_, kName, text);
  }
  return status.ok() ? DeleteReplacedFile(env_, directory_, kCarried) : status;
}

rocksdb::Status FlsmShapeFile::Write(const FlsmShape& shape, uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (number < written_) {
    return rocksdb::Status::OK();
  }
  rocksdb::Status status = ReplaceFile(env_, directory_, kName, ToJson(shape).dump());
  if (status.ok()) {
    written_ = number;
  }
  return status;
}

rocksdb::Status FlsmShapeFile::ReadForCopy(rocksdb::LiveFileStorageInfo* file) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  rocksdb::Status status = rocksdb::ReadFileToString(env_, PathOf(kName), &file->replacement_contents);
  file->relative_filename = kCarried;
  file->directory = directory_;
  // The only type for which RocksDB takes contents; with assertions it insists.
  file->file_type = rocksdb::kCurrentFile;
  file->size = file->replacement_contents.size();
  return status;
}

}  // namespace rocktune
