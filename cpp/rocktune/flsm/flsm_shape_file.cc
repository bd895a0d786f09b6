#include "rocktune/flsm/flsm_shape_file.h"

#include <nlohmann/json.hpp>

#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/util/durable_file.h"

namespace rocktune {
namespace {

constexpr const char* kFileName = "FLSM";
// The shape's name in a copy. RocksDB takes it for a temporary file of its own: BackupEngine restores it, and
// DestroyDB deletes it. A stock RocksDB that opens the copy deletes it too, so a tree that it has changed
// does not count as an FLSM-tree. RocksDB itself never uses the name: its numbers begin with 1.
constexpr const char* kCopyName = "000000.dbtmp";
constexpr const char* kCurrent = "CURRENT";
constexpr int kFormat = 1;
// The field of deepest_policy; format 1 has it under this older name.
constexpr const char* kDeepestPolicy = "largest_policy";
constexpr int kMaxSlots =
    1000;  // far more than 3 T; keeps a corrupt file from asking for any number of levels

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

// Returns the shape in the file's JSON. Throws nlohmann's exceptions for missing fields and wrong types.
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

// Returns the reason why a shape from the file is impossible; empty if it is possible.
std::string LayoutError(const FlsmShape& shape) {
  if (shape.size_ratio < 2 || shape.slots < shape.size_ratio + 2 || shape.slots > kMaxSlots ||
      shape.level1_bytes == 0 || shape.deepest_policy < 0 || shape.deepest_policy > shape.size_ratio ||
      shape.levels.empty() || shape.deepest() > kMaxFlsmLevels) {
    return "has a layout that is out of range";
  }
  return Violation(shape);
}

}  // namespace

FlsmShapeFile::FlsmShapeFile(rocksdb::Env* env, const std::string& directory)
    : env_(env), directory_(directory) {}

bool FlsmShapeFile::Exists(const std::string& name) const { return env_->FileExists(PathOf(name)).ok(); }

bool FlsmShapeFile::HasDatabase() const { return Exists(kCurrent); }

rocksdb::Status FlsmShapeFile::Read(FlsmShape* shape) const {
  // A copy's file exists only until Adopt. So it is newer than FLSM, which a restored backup may find there.
  const std::string path = PathOf(Exists(kCopyName) ? kCopyName : kFileName);
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
    return rocksdb::Status::Corruption(path, "is no shape of an FLSM store in format 1");
  }
  try {
    *shape = FromJson(json);
  } catch (const nlohmann::json::exception& error) {
    return rocksdb::Status::Corruption(path, error.what());
  }
  const std::string error = LayoutError(*shape);
  return error.empty() ? status : rocksdb::Status::Corruption(path, error);
}

rocksdb::Status FlsmShapeFile::Adopt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!Exists(kCopyName)) {
    return rocksdb::Status::OK();
  }
  std::string text;
  rocksdb::Status status = rocksdb::ReadFileToString(env_, PathOf(kCopyName), &text);
  if (status.ok()) {
    status = ReplaceFile(env_, directory_, kFileName, text);
  }
  return status.ok() ? DeleteReplacedFile(env_, directory_, kCopyName) : status;
}

rocksdb::Status FlsmShapeFile::Write(const FlsmShape& shape, uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (number < written_number_) {
    return rocksdb::Status::OK();
  }
  rocksdb::Status status = ReplaceFile(env_, directory_, kFileName, ToJson(shape).dump());
  if (status.ok()) {
    written_number_ = number;
  }
  return status;
}

rocksdb::Status FlsmShapeFile::ReadForCopy(rocksdb::LiveFileStorageInfo* file) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  rocksdb::Status status = rocksdb::ReadFileToString(env_, PathOf(kFileName), &file->replacement_contents);
  file->relative_filename = kCopyName;
  file->directory = directory_;
  // RocksDB uses replacement_contents for this type alone, and asserts it.
  file->file_type = rocksdb::kCurrentFile;
  file->size = file->replacement_contents.size();
  return status;
}

}  // namespace rocktune
