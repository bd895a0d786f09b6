#include <algorithm>
#include <cstring>

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

}  // namespace rocktune
