#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace rocktune {

// The operations of a crash test on an FLSM store, and their effect on a map. Operation n is a function of n,
// so the test knows what the killed process did, and the next process can repeat the operation that was in
// progress.

// The entries of a store, by family and key.
using FlsmContents = std::map<std::string, std::map<std::string, std::string>>;

// A family that is created and dropped again and again.
inline constexpr const char* kShortLived = "short-lived";

// A change of one family's entries.
struct FlsmChange {
  std::string family;
  std::string key;
  std::optional<std::string> value;  // nullopt deletes the key
  std::string end;                   // not empty: deletes the keys from `key` up to here, exclusively
};

class FlsmOperation {
 public:
  enum class Kind {
    kWrite,         // a batch over all families
    kIngest,        // ingests a table of some families, or of all
    kCheckpoint,    // makes a checkpoint
    kChangePolicy,  // of one family and level
    kFamily,        // creates the short-lived family, or drops it
  };

  // The operation `number` on a store with these families, of which the short-lived one is not named.
  FlsmOperation(uint64_t number, std::vector<std::string> families)
      : families_(std::move(families)), number_(number), random_(number) {
    if (kind() == Kind::kWrite) {
      AddWrites();
    } else if (kind() == Kind::kIngest) {
      AddTables();
    }
  }

  static Kind KindOf(uint64_t number, bool has_families) {
    return has_families && number % kFamilyEvery == 0 ? Kind::kFamily
           : number % kCheckpointEvery == 0           ? Kind::kCheckpoint
           : number % kPolicyEvery == 0               ? Kind::kChangePolicy
           : number % kIngestEvery == 0               ? Kind::kIngest
                                                      : Kind::kWrite;
  }
  Kind kind() const { return KindOf(number_, HasFamilies()); }
  // A number of its own, for what is not determined by the changes.
  uint64_t number() const { return number_; }
  // The changes of kWrite, in the order of the batch, and those of kIngest, in the order of keys.
  const std::vector<FlsmChange>& changes() const { return changes_; }
  // True if the short-lived family exists after the operation.
  bool HasShortLived() const { return HasFamilies() && number_ / kFamilyEvery % 2 == 0; }

  // Does to `*contents` what the operation does to the store.
  void ApplyTo(FlsmContents* contents) const {
    for (const FlsmChange& change : changes_) {
      std::map<std::string, std::string>& entries = (*contents)[change.family];
      if (!change.end.empty()) {
        entries.erase(entries.lower_bound(change.key), entries.lower_bound(change.end));
      } else if (change.value) {
        entries[change.key] = *change.value;
      } else {
        entries.erase(change.key);
      }
    }
    if (kind() == Kind::kFamily && HasShortLived()) {
      (*contents)[kShortLived];
    } else if (kind() == Kind::kFamily) {
      contents->erase(kShortLived);
    }
  }

 private:
  static constexpr uint64_t kFamilyEvery = 331;
  static constexpr uint64_t kCheckpointEvery = 223;
  static constexpr uint64_t kPolicyEvery = 97;
  static constexpr uint64_t kIngestEvery = 41;
  static constexpr uint64_t kKeys = 4000;
  static constexpr uint64_t kRange = 40;

  bool HasFamilies() const { return families_.size() > 1; }
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  // Keys have equal lengths, so that they are in the order of their numbers.
  static std::string Key(uint64_t number) { return std::to_string(10'000 + number); }
  std::string Value() {
    return std::to_string(number_) + std::string(Below(700), static_cast<char>('a' + Below(26)));
  }

  void AddWrites() {
    std::vector<std::string> families = families_;
    if (HasShortLived()) {
      families.emplace_back(kShortLived);
    }
    for (const std::string& family : families) {
      for (uint64_t left = 1 + Below(3); left > 0; --left) {
        const uint64_t key = Below(kKeys);
        const uint64_t what = Below(100);
        if (what < 2) {
          changes_.push_back({family, Key(key), std::nullopt, Key(key + kRange)});
        } else if (what < 15) {
          changes_.push_back({family, Key(key), std::nullopt, ""});
        } else {
          changes_.push_back({family, Key(key), Value(), ""});
        }
      }
    }
  }

  // A table has keys of the whole range, or of a narrow one.
  void AddTables() {
    const std::size_t only = Below(families_.size());
    const bool all = Below(2) == 0;
    for (std::size_t family = 0; family < families_.size(); ++family) {
      if (!all && family != only) {
        continue;
      }
      const uint64_t span = Below(2) == 0 ? kKeys : kRange;
      const uint64_t first = Below(kKeys - span + 1);
      std::map<std::string, std::string> entries;
      for (uint64_t left = 1 + Below(30); left > 0; --left) {
        entries[Key(first + Below(span))] = Value();
      }
      for (const auto& [key, value] : entries) {
        changes_.push_back({families_[family], key, value, ""});
      }
    }
  }

  std::vector<std::string> families_;
  uint64_t number_;
  std::mt19937_64 random_;
  std::vector<FlsmChange> changes_;
};

}  // namespace rocktune
