#include "rocktune/trace/sample_choice.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
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
constexpr int kMaxLongBlockBits = 10;

// Returns log2 of the keys of a block.
int BlockBits(const TraceSummary& summary, uint64_t scale) {
  const KindCounts counts = CountsOf(summary);
  int bits = kMaxBlockBits;
  // Most scans and deleted ranges then stay within a block.
  for (const auto& [kind, keys] : {std::pair(OperationKind::kScan, summary.scan_entries),
                                   std::pair(OperationKind::kDeleteRange, summary.range_keys)}) {
    if (const uint64_t operations = counts[static_cast<std::size_t>(kind)]; operations > 0) {
      bits = std::clamp(static_cast<int>(std::bit_width(2 * keys / operations)), bits, kMaxLongBlockBits);
    }
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

}  // namespace

// Operations of keys by their kind and by the power of two of their key's operations.
struct SampleChoice::Profile {
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

bool SampleChoice::HasBlockOf(const TraceOperation& range, uint64_t salt) const {
  const uint64_t first = KeyCode(range.family, range.key);
  const uint64_t last = first + std::max<uint64_t>(range.range_keys, 1) - 1;
  for (uint64_t code = first; code <= last; code = ((code >> block_bits_) + 1) << block_bits_) {
    if (HasBlock(code, salt)) {
      return true;
    }
  }
  return false;
}

bool SampleChoice::HasHotRange(const TraceOperation& range, uint64_t number) const {
  if (Mix64(~number) >= threshold_) {
    return false;
  }
  const uint64_t first = KeyCode(range.family, range.key);
  for (uint64_t code = first; code < first + range.range_keys; ++code) {
    if (IsHot(code)) {
      return true;
    }
  }
  return false;
}

void SampleChoice::AddRange(const TraceOperation& range, uint64_t number, Profile* whole,
                            std::vector<Profile>* samples) const {
  const auto kind = static_cast<std::size_t>(range.kind);
  std::vector<bool> kept;
  for (std::size_t salt = 0; salt < samples->size(); ++salt) {
    kept.push_back(HasBlockOf(range, salt));
  }
  // Wide ranges have keys of all samples, so that they are not searched for hot keys.
  if (std::find(kept.begin(), kept.end(), false) != kept.end() && HasHotRange(range, number)) {
    kept.assign(kept.size(), true);
  }
  whole->Add(kind, 0, true);
  for (std::size_t salt = 0; salt < samples->size(); ++salt) {
    (*samples)[salt].Add(kind, 0, kept[salt]);
  }
}

void SampleChoice::ChooseSalt(const TraceFile& file) {
  std::vector<Profile> samples(kSalts);
  Profile whole;
  TraceFile::Cursor cursor(file);
  TraceOperation operation;
  for (uint64_t number = 0; cursor.Next(&operation); ++number) {
    if (operation.kind == OperationKind::kDeleteRange) {
      AddRange(operation, number, &whole, &samples);
      continue;
    }
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
