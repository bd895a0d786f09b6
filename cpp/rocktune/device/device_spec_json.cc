#include "rocktune/device/device_spec_json.h"

#include <nlohmann/json.hpp>

#include "rocktune/util/json_fields.h"

namespace rocktune {

DeviceSpec DeviceSpecFromJson(const nlohmann::json& json) {
  DeviceSpec spec;
  JsonFields fields(json, "device");
  fields.Read("name", &spec.name);
  fields.Read("bandwidth_bytes_s", &spec.bandwidth_bytes_s);
  fields.Read("iops", &spec.iops);
  fields.Read("read_latency_us", &spec.read_latency_us);
  fields.Read("write_latency_us", &spec.write_latency_us);
  fields.Read("sync_latency_us", &spec.sync_latency_us);
  fields.Read("capacity_bytes", &spec.capacity_bytes);
  fields.RefuseUnknown();
  return spec;
}

}  // namespace rocktune
