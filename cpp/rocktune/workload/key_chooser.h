#pragma once

#include <cstdint>
#include <memory>

#include "rocktune/workload/random.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// Picks the key of an operation. Immutable, hence thread-safe.
class KeyChooser {
 public:
  virtual ~KeyChooser() = default;

  // An index below `key_count`, the number of keys now, which is at least the spec's. Only `latest` looks at
  // it: the newest key is the hottest, and the law reaches back over as many keys as there were at the start.
  // All others choose among the keys that there were at the start.
  virtual uint64_t Next(Random* random, uint64_t key_count) const = 0;
};

// REQUIRES: keys > 0 and a spec that WorkloadSpecFromJson accepts.
std::unique_ptr<const KeyChooser> NewKeyChooser(const KeyChooserSpec& spec, uint64_t keys);

}  // namespace rocktune
