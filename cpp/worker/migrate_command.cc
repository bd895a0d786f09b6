#include "worker/migrate_command.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rocktune/device/device_spec_json.h"
#include "rocktune/migrate/store_copy.h"
#include "rocktune/migrate/store_rewrite.h"
#include "rocktune/throttled_file_system.h"
#include "worker/command_fields.h"

namespace rocktune {
namespace {

MigrationRequest ReadRequest(const nlohmann::json& command) {
  MigrationRequest request;
  request.source = command.at("source").get<std::string>();
  request.present = OptionMapsFromJson(command.at("present"));
  request.wanted = OptionMapsFromJson(command.at("wanted"));
  return request;
}

// Returns an Env whose I/O takes the time that the command's device needs.
std::unique_ptr<rocksdb::Env> DeviceEnv(const nlohmann::json& command) {
  return rocksdb::NewCompositeEnv(
      ThrottledFileSystem::Create(rocksdb::FileSystem::Default(), DeviceSpecFromJson(command.at("device"))));
}

nlohmann::json ToJson(const std::vector<FamilyDigest>& digests) {
  nlohmann::json families = nlohmann::json::array();
  for (const FamilyDigest& digest : digests) {
    families.push_back({{"name", digest.family},
                        {"entries", digest.entries},
                        {"raw_bytes", digest.bytes},
                        {"checksum", std::to_string(digest.checksum)}});
  }
  return families;
}

}  // namespace

nlohmann::json CopyStoreCommand(const nlohmann::json& command, const Progress& progress) {
  CheckFields(command, {"source", "target", "present", "wanted", "device"});
  MigrationRequest request = ReadRequest(command);
  request.target = command.at("target").get<std::string>();
  const StoreCopy copy = CopyStore(request, DeviceEnv(command).get(), progress);
  return {{"event", "store_copied"}, {"families", ToJson(copy.families)}, {"continued", copy.continued}};
}

nlohmann::json RewriteStoreCommand(const nlohmann::json& command, const Progress& progress) {
  CheckFields(command, {"source", "present", "wanted", "rewritten", "device"});
  MigrationRequest request = ReadRequest(command);
  request.rewritten = command.at("rewritten").get<std::vector<std::string>>();
  return {{"event", "store_rewritten"},
          {"families", ToJson(RewriteStore(request, DeviceEnv(command).get(), progress))}};
}

}  // namespace rocktune
