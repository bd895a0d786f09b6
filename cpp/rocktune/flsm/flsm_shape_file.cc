#include "rocktune/flsm/flsm_shape_file.h"

#include <memory>
#include <nlohmann/json.hpp>

namespace rocktune {
namespace {

constexpr const char* kName = "/FLSM";
constexpr int kFormat = 1;
constexpr int kMostSlots = 1000;

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
      {"format", kFormat},    {"size_ratio", shape.size_ratio},         {"level1_bytes", shape.level1_bytes},
      {"slots", shape.slots}, {"largest_policy", shape.largest_policy}, {"levels", levels}};
}

// Throws nlohmann's exceptions for what is no shape.
FlsmShape FromJson(const nlohmann::json& json) {
  FlsmShape shape;
  shape.size_ratio = json.at("size_ratio").get<int>();
  shape.level1_bytes = json.at("level1_bytes").get<uint64_t>();
  shape.slots = json.at("slots").get<int>();
  shape.largest_policy = json.at("largest_policy").get<int>();
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
  if (shape.size_ratio < 2 || shape.slots < shape.size_ratio + 2 || shape.slots > kMostSlots ||
      shape.level1_bytes == 0 || shape.largest_policy < 0 || shape.largest_policy > shape.size_ratio ||
      shape.levels.empty() || shape.deepest() > kMostFlsmLevels) {
    return "its layout makes no sense";
  }
  return Broken(shape);
}

}  // namespace

FlsmShapeFile::FlsmShapeFile(rocksdb::Env* env, const std::string& directory)
    : env_(env), directory_(directory), path_(directory + kName) {}

rocksdb::Status FlsmShapeFile::Read(FlsmShape* shape) const {
  if (!Exists()) {
    return rocksdb::Status::NotFound(path_);
  }
  std::string text;
  rocksdb::Status status = rocksdb::ReadFileToString(env_, path_, &text);
  if (!status.ok()) {
    return status;
  }
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", nlohmann::json()) != kFormat) {
    return rocksdb::Status::Corruption(path_, "is no shape of an FLSM store that this version knows");
  }
  try {
    *shape = FromJson(json);
  } catch (const nlohmann::json::exception& error) {
    return rocksdb::Status::Corruption(path_, error.what());
  }
  const std::string nonsense = Nonsense(*shape);
  return nonsense.empty() ? status : rocksdb::Status::Corruption(path_, nonsense);
}

rocksdb::Status FlsmShapeFile::Write(const FlsmShape& shape, uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (number < written_) {
    return rocksdb::Status::OK();
  }
  const std::string unfinished = path_ + ".dbtmp";  // which RocksDB removes if we do not come to it
  rocksdb::Status status = rocksdb::WriteStringToFile(env_, ToJson(shape).dump(), unfinished, true);
  if (status.ok()) {
    status = env_->RenameFile(unfinished, path_);
  }
  std::unique_ptr<rocksdb::Directory> directory;
  if (status.ok()) {
    status = env_->NewDirectory(directory_, &directory);
  }
  if (status.ok()) {
    status = directory->Fsync();
    written_ = number;
  }
  return status;
}

}  // namespace rocktune
