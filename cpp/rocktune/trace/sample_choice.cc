#include "rocktune/trace/sample_choice.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace rocktune {
namespace {

constexpr std::size_t kSalts = 32;  // hashes to choose from
// A key with more than this share of a sample's operations is hot.
constexpr double kHotShare = 1.0 / 256;
// Operations on a hot key, at least, in as many operations as a sample has keys.
constexpr double kUsesOfHotKey = 50;
// Blocks that a sample has at least, unless blocks are single keys.
constexpr uint64_t kMinBlocks = 512;
constexpr int kMaxBlockBits = 6;  // 64 keys: a few of the table's blocks
constexpr int kMaxScanBlockBits = 10;

// Returns log2 of the keys of a block.
int BlockBits(const TraceSummary& summary, uint64_t scale) {
  const uint64_t scans = CountsOf(summary)[static_cast<std::size_t>(OperationKind::kScan)];
  int bits = kMaxBlockBits;
  if (scans > 0) {
    // Most scans then stay within a block.
    bits = std::clamp(static_cast<int>(std::bit_width(2 * summary.scan_entries / scans)), bits,
                      kMaxScanBlockBits);
  }
  while (bits > 0 && (KeysOf(summary) >> bits) / scale < kMinBlocks) {
    --bits;
  }
  return bits;
}

// Returns the number of operations beyond which a key is hot. A hot key decides over a sample if it is
// there with all its operations. With one of S it must still be used so often that a cache for a tenth of
// the sample's keys never loses it.
uint64_t HotOperations(const TraceSummary& summary, uint64_t scale) {
  const double sampled_keys = static_cast<double>(KeysOf(summary)) / static_cast<double>(scale);
  const double share = std::max(kHotShare / static_cast<double>(scale), kUsesOfHotKey / sampled_keys);
  return std::max(2 * scale, static_cast<uint64_t>(share * static_cast<double>(summary.operations)));
}

// Operations of keys by their kind and by the power of two of their key's operations.
struct Profile {
  KindCounts kinds{};
  std::array<uint64_t, 33> popularity{};

  void Add(std::size_t kind, std::size_t power, bool kept) {
    kinds[kind] += kept;
    popularity[power] += kept;
  }
  // Returns the difference from the whole, in operations of the whole.
  double Difference(const Profile& whole, double scale) const {
    double sum = 0;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      sum += std::abs(static_cast<double>(kinds[kind]) * scale - static_cast<double>(whole.kinds[kind]));
    }
    for (std::size_t power = 0; power < popularity.size(); ++power) {
      sum += std::abs(static_cast<double>(popularity[power]) * scale -
                      static_cast<double>(whole.popularity[power]));
    }
    return sum;
  }
};

}  // namespace

KindCounts CountsOf(const TraceSummary& summary) {
  KindCounts counts{};
  for (const TraceFamily& family : summary.families) {
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      counts[kind] += family.operations[kind];
    }
  }
  return counts;
}

uint64_t KeysOf(const TraceSummary& summary) {
  uint64_t keys = 0;
  for (const TraceFamily& family : summary.families) {
    keys += family.keys;
  }
  return keys;
}

SampleChoice::SampleChoice(const TraceFile& file, uint64_t scale, const KeyCounts& counts)
    : scale_(scale),
      threshold_(std::numeric_limits<uint64_t>::max() / scale),
      block_bits_(BlockBits(file.summary(), scale)),
      hot_operations_(HotOperations(file.summary(), scale)),
      counts_(counts) {
  ChooseSalt(file);
}

void SampleChoice::ChooseSalt(const TraceFile& file) {
  std::vector<Profile> samples(kSalts);
  Profile whole;
  TraceFile::Cursor cursor(file);
  TraceOperation operation;
  for (uint64_t number = 0; cursor.Next(&operation); ++number) {
    const uint64_t code = KeyCode(operation.family, operation.key);
    const auto kind = static_cast<std::size_t>(operation.kind);
    const uint64_t uses = counts_.CountOf(code);
    const auto power = static_cast<std::size_t>(std::bit_width(uses));
    whole.Add(kind, power, true);
    const bool kept_if_hot = uses > hot_operations_ && Mix64(~number) < threshold_;
    for (std::size_t salt = 0; salt < kSalts; ++salt) {
      samples[salt].Add(kind, power, uses > hot_operations_ ? kept_if_hot : HasBlock(code, salt));
    }
  }
  const auto difference = [&](const Profile& sample) {
    return sample.Difference(whole, static_cast<double>(scale_));
  };
  const auto best = std::min_element(samples.begin(), samples.end(), [&](const Profile& a, const Profile& b) {
    return difference(a) < difference(b);
  });
  salt_ = static_cast<uint64_t>(best - samples.begin());
  kept_ = best->kinds;
}

}  // namespace rocktune
