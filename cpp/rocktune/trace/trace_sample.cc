#include "rocktune/trace/trace_sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "rocktune/trace/key_counts.h"
#include "rocktune/trace/lru_hits.h"
#include "rocktune/trace/sample_choice.h"

namespace rocktune {
namespace {

// Bounds of the time and memory that measuring the hit ratios takes.
constexpr uint64_t kMaxCachedKeys = 500'000;
constexpr uint64_t kMaxCacheUses = 20'000'000;

uint64_t Sum(const KindCounts& counts) {
  uint64_t sum = 0;
  for (const uint64_t count : counts) {
    sum += count;
  }
  return sum;
}

// Keys whose stored sizes are read at once.
constexpr uint64_t kSizesAtOnce = 1 << 16;

// The ranks of a family's sampled keys.
class DenseRanks {
 public:
  DenseRanks(const SampleChoice& choice, uint32_t family, uint64_t keys)
      : bits_(WordsOf(keys + 1)), before_(bits_.size()) {
    for (uint64_t key = 0; key <= keys; ++key) {
      if (key % 64 == 0) {
        before_[key / 64] = keys_;
      }
      if (key < keys && choice.HasKey(KeyCode(family, key))) {
        SetBit(&bits_, key);
        ++keys_;
      }
    }
  }

  uint64_t keys() const { return keys_; }
  bool Has(uint64_t key) const { return HasBit(bits_, key); }
  // Returns the number of sampled keys below `key`, at most the number of all keys.
  uint64_t RankOf(uint64_t key) const {
    const uint64_t below = bits_[key / 64] & ((uint64_t{1} << key % 64) - 1);
    return before_[key / 64] + static_cast<uint64_t>(std::popcount(below));
  }

 private:
  KeyBits bits_;
  std::vector<uint64_t> before_;  // sampled keys before each word of bits_
  uint64_t keys_ = 0;
};

// Writes the sample and compares it with the whole.
class Sampler {
 public:
  Sampler(const TraceFile& file, uint64_t scale, const KeyCounts& counts)
      : file_(file),
        whole_(file.summary()),
        scale_(scale),
        counts_(counts),
        choice_(file, scale, counts),
        kept_(Sum(choice_.kept())),
        whole_cache_(CachedKeys()),
        sample_cache_(std::max<std::size_t>(1, CachedKeys() / scale)) {
    if (kept_ == 0) {
      throw std::invalid_argument("a sample of 1/" + std::to_string(scale) + " of the trace's " +
                                  std::to_string(KeysOf(whole_)) +
                                  " keys holds no operation; use a smaller scale");
    }
    for (std::size_t family = 0; family < whole_.families.size(); ++family) {
      AddFamily(static_cast<uint32_t>(family));
    }
  }

  TraceSummary Write(const std::string& path) {
    TraceFileWriter writer(path);
    TraceFile::Cursor cursor(file_);
    TraceOperation operation;
    for (uint64_t number = 0; cursor.Next(&operation); ++number) {
      if (operation.kind == OperationKind::kDeleteRange) {
        if (choice_.HasRange(operation, number)) {
          writer.Add(SampledRange(operation));
        }
        continue;
      }
      const uint64_t code = KeyCode(operation.family, operation.key);
      if (number < kMaxCacheUses) {
        whole_cache_.Use(code);
      }
      if (choice_.HasOperation(code, number)) {
        sample_counts_.Add(code);
        if (number < kMaxCacheUses) {
          sample_cache_.Use(code);
        }
        writer.Add(Sampled(operation));
      }
    }
    Compare();
    for (std::size_t family = 0; family < sizes_.size(); ++family) {
      if (TraceFamily& of_sample = sample_.families[family]; of_sample.stored) {
        of_sample.stored->keys = of_sample.present_keys;
        writer.AddStoredSizes(sizes_[family]);
      }
    }
    writer.Finish(sample_, present_);
    return sample_;
  }

 private:
  std::size_t CachedKeys() const {
    return static_cast<std::size_t>(std::clamp<uint64_t>(KeysOf(whole_) / 10, 1, kMaxCachedKeys));
  }

  void AddFamily(uint32_t index) {
    TraceFamily family = whole_.families[index];
    const DenseRanks& ranks = ranks_.emplace_back(choice_, index, family.keys);
    const KeyBits whole_present = file_.PresentKeys(index);
    KeyBits& present = present_.emplace_back(WordsOf(ranks.keys()));
    seen_.emplace_back(WordsOf(ranks.keys()));
    family.present_keys = 0;
    for (uint64_t key = 0; key < family.keys; ++key) {
      if (ranks.Has(key)) {
        hot_keys_ += choice_.IsHot(KeyCode(index, key));
        if (HasBit(whole_present, key)) {
          SetBit(&present, ranks.RankOf(key));
          ++family.present_keys;
        }
      }
    }
    AddSizes(index, ranks, &family);
    family.keys = ranks.keys();
    family.used_keys = 0;
    family.operations.fill(0);
    sample_.families.push_back(family);
  }

  // Adds the sizes of a family's stored values that are in the sample, and counts the entries.
  void AddSizes(uint32_t index, const DenseRanks& ranks, TraceFamily* family) {
    std::vector<uint32_t>& sizes = sizes_.emplace_back();
    if (!family->stored) {
      return;
    }
    StoredEntries& stored = *family->stored;
    mean_stored_bytes_.resize(sizes_.size());
    mean_stored_bytes_.back() =
        static_cast<uint32_t>(stored.value_bytes / std::max<uint64_t>(1, stored.keys));
    stored.value_bytes = stored.untouched_keys = 0;
    sizes.reserve(static_cast<std::size_t>(ranks.keys()));
    std::vector<uint32_t> whole;
    for (uint64_t key = 0; key < family->keys; ++key) {
      if (key % kSizesAtOnce == 0) {
        whole = file_.StoredSizes(index, key, std::min(kSizesAtOnce, family->keys - key));
      }
      if (!ranks.Has(key)) {
        continue;
      }
      const uint32_t bytes = whole[key % kSizesAtOnce];
      sizes.push_back(bytes);
      if (bytes != kNotStored) {
        stored.value_bytes += bytes;
        stored.untouched_keys += counts_.CountOf(KeyCode(index, key)) == 0;
      }
    }
  }

  // Lets a key be present that the store does not have before the whole trace.
  void AddPresent(std::size_t index, uint64_t key) {
    TraceFamily& family = sample_.families[index];
    SetBit(&present_[index], key);
    ++family.present_keys;
    if (family.stored) {
      sizes_[index][key] = mean_stored_bytes_[index];
      family.stored->value_bytes += mean_stored_bytes_[index];
    }
  }

  // Returns an operation of the whole as it is in the sample, and counts it.
  TraceOperation Sampled(TraceOperation operation) {
    TraceFamily& family = sample_.families[operation.family];
    const bool is_hot = choice_.IsHot(KeyCode(operation.family, operation.key));
    operation.key = ranks_[operation.family].RankOf(operation.key);
    KeyBits& seen = seen_[operation.family];
    if (!HasBit(seen, operation.key)) {
      SetBit(&seen, operation.key);
      ++family.used_keys;
      // The put before a hot key's first operation may be left out. Other keys that a database lacks stay
      // missing.
      if (operation.kind != OperationKind::kPut && !HasBit(present_[operation.family], operation.key) &&
          (!family.stored || is_hot)) {
        AddPresent(operation.family, operation.key);
      }
    }
    Count(&operation);
    return operation;
  }

  // The same of a range delete, which deletes the sampled keys of its range.
  TraceOperation SampledRange(TraceOperation operation) {
    const DenseRanks& ranks = ranks_[operation.family];
    const uint64_t end = ranks.RankOf(operation.key + operation.range_keys);
    operation.key = ranks.RankOf(operation.key);
    operation.range_keys = end - operation.key;
    Count(&operation);
    return operation;
  }

  // Sets the time of a sampled operation, and counts the operation.
  void Count(TraceOperation* operation) {
    __extension__ using Wide = unsigned __int128;
    operation->time_us = static_cast<uint64_t>(Wide{operation->time_us} * kept_ / whole_.operations);
    ++sample_.operations;
    sample_.scan_entries += operation->scan_length;
    sample_.range_keys += operation->range_keys;
    sample_.span_us = operation->time_us;
    ++sample_.families[operation->family].operations[static_cast<std::size_t>(operation->kind)];
  }

  void Compare() {
    TraceSampling& sampling = sample_.sampling.emplace();
    sample_.notes = whole_.notes;
    sampling.scale = scale_;
    sampling.block_keys = choice_.block_keys();
    sampling.hot_keys = hot_keys_;
    const auto operations = static_cast<double>(whole_.operations);
    const auto kept = static_cast<double>(kept_);
    sampling.operations_ratio = kept * static_cast<double>(scale_) / operations;
    const KindCounts counts = CountsOf(whole_);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      sampling.mix_error =
          std::max(sampling.mix_error, std::abs(static_cast<double>(choice_.kept()[kind]) / kept -
                                                static_cast<double>(counts[kind]) / operations));
    }
    sampling.hot_share_whole = counts_.HotShare();
    sampling.hot_share_sample = sample_counts_.HotShare();
    sample_.hot_share = sampling.hot_share_sample;
    const auto whole_uses = static_cast<double>(whole_cache_.uses());
    const double expected = whole_uses / static_cast<double>(scale_);
    if (whole_uses == 0) {  // range deletes alone
      return;
    }
    sampling.hit_ratio_whole = static_cast<double>(whole_cache_.hits()) / whole_uses;
    // SHARDS' adjustment: operations that the sample lacks would be hits, as they are those of hot keys.
    const double adjusted =
        static_cast<double>(sample_cache_.hits()) + expected - static_cast<double>(sample_cache_.uses());
    sampling.hit_ratio_sample = std::clamp(adjusted / expected, 0.0, 1.0);
  }

  const TraceFile& file_;
  const TraceSummary& whole_;
  const uint64_t scale_;
  const KeyCounts& counts_;
  const SampleChoice choice_;
  const uint64_t kept_;
  TraceSummary sample_;
  std::vector<DenseRanks> ranks_;             // by family
  std::vector<KeyBits> present_;              // by family, by rank in the sample
  std::vector<KeyBits> seen_;                 // by family, by rank in the sample
  std::vector<std::vector<uint32_t>> sizes_;  // of stored values, by family, by rank in the sample
  std::vector<uint32_t> mean_stored_bytes_;   // of the whole, by family
  uint64_t hot_keys_ = 0;
  KeyCounts sample_counts_;
  LruHits whole_cache_;
  LruHits sample_cache_;
};

}  // namespace

TraceSummary SampleTrace(const std::string& path, uint64_t scale) {
  const std::string target = SamplePath(path, scale);
  std::error_code missing;
  const auto made = std::filesystem::last_write_time(target, missing);
  if (!missing && made >= std::filesystem::last_write_time(path)) {
    return TraceFile(target).summary();
  }
  const TraceFile file(path);
  KeyCounts counts;
  TraceFile::Cursor cursor(file);
  TraceOperation operation;
  while (cursor.Next(&operation)) {
    if (operation.kind != OperationKind::kDeleteRange) {
      counts.Add(KeyCode(operation.family, operation.key));
    }
  }
  return Sampler(file, scale, counts).Write(target);
}

}  // namespace rocktune
