#include "rocktune/flsm/flsm_shape_file.h"

#include <rocksdb/db.h>

#include <exception>
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
// A store with the default family alone has format 1, which older versions read. Format 2 adds the others.
constexpr int kFormatOfOne = 1;
constexpr int kFormatOfSeveral = 2;
constexpr const char* kFamilies = "families";
// The field of deepest_policy, which has this older name.
constexpr const char* kDeepestPolicy = "largest_policy";
constexpr int kMaxSlots =
    1000;  // far more than 3 T; keeps a corrupt file from asking for any number of levels

nlohmann::json ToJson(const FlsmShape& shape) {
  nlohmann::json levels = nlohmann::json::array();
  for (const FlsmLevel& level : shape.levels) {
    std::vector<int> sealed;
    for (const FlsmRun& run : level.runs) {
      // A run that is being written has no bytes yet; one read from this file has 0 until the store
      // opens.
      if (run.sealed && (run.bytes > 0 || run.use == RunUse::kIdle)) {
        sealed.push_back(run.physical);
      }
    }
    levels.push_back({{"policy", level.policy},
                      {"next_policy", level.next_policy},
                      {"push", level.push || level.in_pieces},
                      {"sealed", sealed}});
  }
  return {{"size_ratio", shape.size_ratio},
          {"level1_bytes", shape.level1_bytes},
          {"slots", shape.slots},
          {kDeepestPolicy, shape.deepest_policy},
          {"levels", levels}};
}

bool IsPlain(char character) { return character >= ' ' && character <= '~' && character != '%'; }

// Returns a family's name as JSON can hold it: bytes other than printable ASCII, and %, become %XX.
std::string EncodeName(const std::string& name) {
  std::string encoded;
  for (const char character : name) {
    encoded += IsPlain(character) ? std::string(1, character)
                                  : "%" + rocksdb::Slice(&character, 1).ToString(true);  // hexadecimal
  }
  return encoded;
}

// Reverts EncodeName. Throws std::invalid_argument for a % without a number.
std::string DecodeName(const std::string& encoded) {
  std::string name;
  for (std::size_t place = 0; place < encoded.size(); ++place) {
    if (encoded[place] == '%') {
      name += static_cast<char>(std::stoi(encoded.substr(place + 1, 2), nullptr, 16));
      place += 2;
    } else {
      name += encoded[place];
    }
  }
  return name;
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

// Returns the shapes in the file's JSON. Throws nlohmann's and std's exceptions for what FromJson and
// DecodeName refuse.
FlsmShapes ShapesFromJson(const nlohmann::json& json) {
  FlsmShapes shapes = {{rocksdb::kDefaultColumnFamilyName, FromJson(json)}};
  if (json.at("format") == kFormatOfSeveral) {
    for (const auto& [name, shape] : json.at(kFamilies).items()) {
      shapes.emplace(DecodeName(name), FromJson(shape));
    }
  }
  return shapes;
}

}  // namespace

FlsmShapeFile::FlsmShapeFile(rocksdb::Env* env, const std::string& directory)
    : env_(env), directory_(directory) {}

bool FlsmShapeFile::Exists(const std::string& name) const { return env_->FileExists(PathOf(name)).ok(); }

bool FlsmShapeFile::HasDatabase() const { return Exists(kCurrent); }

rocksdb::Status FlsmShapeFile::Read(FlsmShapes* shapes) const {
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
  const nlohmann::json format = json.is_object() ? json.value("format", nlohmann::json()) : nlohmann::json();
  if (format != kFormatOfOne && format != kFormatOfSeveral) {
    return rocksdb::Status::Corruption(path, "is no shape of an FLSM store in format 1 or 2");
  }
  try {
    *shapes = ShapesFromJson(json);
  } catch (const std::exception& error) {
    return rocksdb::Status::Corruption(path, error.what());
  }
  for (const auto& [name, shape] : *shapes) {
    if (const std::string error = LayoutError(shape); !error.empty()) {
      std::string where = path;
      where += ", column family ";
      where += name;
      return rocksdb::Status::Corruption(where, error);
    }
  }
  return status;
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

int FlsmShapeFile::Add(const std::string& family, const FlsmShape& shape) {
  const std::lock_guard<std::mutex> lock(mutex_);
  families_[next_family_] = {family, shape, 0};
  return next_family_++;
}

void FlsmShapeFile::Remove(int family) {
  const std::lock_guard<std::mutex> lock(mutex_);
  families_.erase(family);
}

rocksdb::Status FlsmShapeFile::Save() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return SaveLocked();
}

rocksdb::Status FlsmShapeFile::SaveLocked() {
  nlohmann::json json = nlohmann::json::object();
  nlohmann::json others = nlohmann::json::object();
  for (const auto& [number, family] : families_) {
    if (family.name == rocksdb::kDefaultColumnFamilyName) {
      json = ToJson(family.shape);
    } else {
      others[EncodeName(family.name)] = ToJson(family.shape);
    }
  }
  json["format"] = others.empty() ? kFormatOfOne : kFormatOfSeveral;
  if (!others.empty()) {
    json[kFamilies] = others;
  }
  const std::string text = json.dump();
  if (text == saved_) {
    return rocksdb::Status::OK();
  }
  rocksdb::Status status = ReplaceFile(env_, directory_, kFileName, text);
  saved_ = status.ok() ? text : "";
  return status;
}

rocksdb::Status FlsmShapeFile::Write(int family, const FlsmShape& shape, uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = families_.find(family);
  if (found == families_.end() || number < found->second.number) {
    return rocksdb::Status::OK();
  }
  found->second.shape = shape;
  found->second.number = number;
  return SaveLocked();
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
