#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "rocktune/workload/operation_stream.h"
#include "rocktune/workload/random.h"

namespace rocktune {

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
// As in db_bench: pieces of 100 bytes, each of which repeats its own random prefix.
constexpr std::size_t kPieceBytes = 100;

}  // namespace

ValueSource::ValueSource(uint64_t seed, double compressed_fraction, uint64_t max_value_bytes) {
  const std::size_t random_bytes = std::clamp<std::size_t>(
      static_cast<std::size_t>(static_cast<double>(kPieceBytes) * compressed_fraction), 1, kPieceBytes);
  Random random(seed);
  buffer_.resize(kBufferBytes + max_value_bytes);
  for (std::size_t i = 0; i < buffer_.size(); ++i) {
    const std::size_t within = i % kPieceBytes;
    buffer_[i] =
        within < random_bytes ? static_cast<char>(' ' + random.Below(95)) : buffer_[i - random_bytes];
  }
}

const char* ValueSource::Slice(uint64_t position, uint64_t bytes) const {
  return buffer_.data() + position % (buffer_.size() - bytes + 1);
}

ValueSources NewValueSources(const WorkloadSpec& spec, uint64_t seed) {
  std::map<double, uint64_t> max_bytes;  // by compressed fraction
  for (std::size_t family = 0; family < spec.families.size(); ++family) {
    uint64_t& bytes = max_bytes[spec.families[family].value_compressed_fraction];
    bytes = std::max(bytes, spec.max_value_bytes(family));
  }
  std::map<double, std::shared_ptr<const ValueSource>> made;
  for (const auto& [fraction, bytes] : max_bytes) {
    made[fraction] = std::make_shared<const ValueSource>(seed, fraction, bytes);
  }
  ValueSources sources;
  for (const FamilySpec& family : spec.families) {
    sources.push_back(made[family.value_compressed_fraction]);
  }
  return sources;
}

}  // namespace rocktune
