#pragma once

#include <cstdint>
#include <memory>

#include "rocktune/workload/random.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// A distribution of the keys that operations use. Immutable, hence thread-safe; each thread passes its own
// random generator.
class KeyChooser {
 public:
  virtual ~KeyChooser() = default;

  // Returns the index of a key, below `key_count`, the present number of keys. Only kind `latest` uses
  // `key_count`: its hottest key is the newest one, and it draws from the newest keys, as many as the key
  // space had at the start. All other kinds draw from the keys at the start.
  // REQUIRES: key_count is at least the number of keys at the start.
  virtual uint64_t Next(Random* random, uint64_t key_count) const = 0;
};

// Returns the chooser that `spec` describes, for a key space that has `keys` keys at the start. Throws
// std::invalid_argument for an unknown kind, or if the weights of its ranges are not finite.
// REQUIRES: keys > 0 and a spec that WorkloadSpecFromJson accepts, of a kind other than `oldest`, whose keys
// depend on what was removed (WorkloadState::oldest_key).
std::unique_ptr<const KeyChooser> NewKeyChooser(const KeyChooserSpec& spec, uint64_t keys);

}  // namespace rocktune
