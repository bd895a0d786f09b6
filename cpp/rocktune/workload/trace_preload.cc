#include "rocktune/workload/trace_preload.h"

namespace rocktune {

std::vector<KeyBits> PresentKeys(const WorkloadSpec& spec) {
  std::vector<KeyBits> present(spec.families.size());
  if (spec.trace.path.empty()) {
    return present;
  }
  const TraceFile file(SamplePath(spec.trace.path, spec.trace.scale));
  for (std::size_t family = 0; family < present.size(); ++family) {
    const FamilySpec& of_family = spec.families[family];
    if (of_family.preload.keys > 0 && of_family.preload.keys < of_family.keys) {
      present[family] = file.PresentKeys(family);
    }
  }
  return present;
}

std::vector<std::vector<uint32_t>> StoredSizes(const WorkloadSpec& spec) {
  std::vector<std::vector<uint32_t>> sizes(spec.families.size());
  if (spec.trace.path.empty()) {
    return sizes;
  }
  const TraceFile file(SamplePath(spec.trace.path, spec.trace.scale));
  for (std::size_t family = 0; family < sizes.size(); ++family) {
    if (const TraceFamily& traced = file.summary().families[family]; traced.stored) {
      sizes[family] = file.StoredSizes(family, 0, traced.keys);
    }
  }
  return sizes;
}

}  // namespace rocktune
