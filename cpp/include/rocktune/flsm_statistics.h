#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rocktune {

// Statistics of an FlsmStore since it was opened; all numbers only grow. Each struct lists its fields once,
// in Fields(), for all that copies, prints or subtracts them.
//
// A name and a member of `Struct`, of type `Count`.
template <typename Struct, typename Count>
using FlsmField = std::pair<const char*, Count Struct::*>;

// What happened at one logical level. Figures of lookups and iterators are estimated from the sampled ones;
// those of compactions are exact. What a filter answered counts for the level in which its table was opened
// first, which is one level above the table's own if the table was moved.
// `Count` is uint64_t, or std::atomic<uint64_t> while the figures are gathered.
template <typename Count>
struct FlsmLevelCounts {
  Count filtered{0};                  // runs whose filter ruled the key out
  Count passed{0};                    // runs whose filter let the lookup pass
  Count false_positives{0};           // part of `passed` without the key
  Count found{0};                     // keys found in this level
  Count read_ns{0};                   // time that lookups spent in the level's tables
  Count false_positive_read_ns{0};    // part of `read_ns` spent in runs without the key
  Count scanned{0};                   // runs visible to iterators
  Count compactions{0};               // compactions whose output is in this level
  Count compaction_read_bytes{0};     // by these; a moved table is neither read nor written
  Count compaction_written_bytes{0};  // by these
  Count compaction_us{0};             // duration of these

  static constexpr auto Fields() {
    using Self = FlsmLevelCounts;
    using Field = FlsmField<Self, Count>;
    return std::array{Field{"filtered", &Self::filtered},
                      Field{"passed", &Self::passed},
                      Field{"false_positives", &Self::false_positives},
                      Field{"found", &Self::found},
                      Field{"read_ns", &Self::read_ns},
                      Field{"false_positive_read_ns", &Self::false_positive_read_ns},
                      Field{"scanned", &Self::scanned},
                      Field{"compactions", &Self::compactions},
                      Field{"compaction_read_bytes", &Self::compaction_read_bytes},
                      Field{"compaction_written_bytes", &Self::compaction_written_bytes},
                      Field{"compaction_us", &Self::compaction_us}};
  }
};
using FlsmLevelStatistics = FlsmLevelCounts<uint64_t>;

// A group of operations and their cost, estimated from the sampled ones.
struct FlsmServed {
  uint64_t operations = 0;  // lookups, writes and iterators
  uint64_t busy_ns = 0;     // time that callers spent in them
  uint64_t passed = 0;      // runs that lookups read
  uint64_t read_ns = 0;     // time that lookups spent in tables
  uint64_t scanned = 0;     // runs visible to iterators

  static constexpr auto Fields() {
    using Field = FlsmField<FlsmServed, uint64_t>;
    return std::array{Field{"operations", &FlsmServed::operations}, Field{"busy_ns", &FlsmServed::busy_ns},
                      Field{"passed", &FlsmServed::passed}, Field{"read_ns", &FlsmServed::read_ns},
                      Field{"scanned", &FlsmServed::scanned}};
  }
};

struct FlsmStatistics {
  uint64_t lookups = 0;          // keys looked up by Get, MultiGet, GetEntity or GetMergeOperands
  uint64_t found = 0;            // lookups that found their key
  uint64_t iterators = 0;        // iterators created
  uint64_t entries_written = 0;  // puts, merges and deletes
  uint64_t flushed_bytes = 0;    // of the tables that memtables became
  // Time that callers spent in lookups and writes, estimated from the sampled ones, and the time they
  // reported by FlsmStore::AddBusy.
  uint64_t busy_ns = 0;
  FlsmServed quiet;    // operations during which no merge ran, from beginning to end
  FlsmServed merging;  // all other operations; the difference in cost is what merges make clients wait for
  std::vector<FlsmLevelStatistics> levels;  // [0] is RocksDB's own level 0

  // The fields that are numbers.
  static constexpr auto Fields() {
    using Field = FlsmField<FlsmStatistics, uint64_t>;
    return std::array{Field{"lookups", &FlsmStatistics::lookups},
                      Field{"found", &FlsmStatistics::found},
                      Field{"iterators", &FlsmStatistics::iterators},
                      Field{"entries_written", &FlsmStatistics::entries_written},
                      Field{"flushed_bytes", &FlsmStatistics::flushed_bytes},
                      Field{"busy_ns", &FlsmStatistics::busy_ns}};
  }
};

// A field that Fields() leaves out would be lost without a word.
static_assert(sizeof(FlsmLevelStatistics) == FlsmLevelStatistics::Fields().size() * sizeof(uint64_t));
static_assert(sizeof(FlsmServed) == FlsmServed::Fields().size() * sizeof(uint64_t));
static_assert(sizeof(FlsmStatistics) == FlsmStatistics::Fields().size() * sizeof(uint64_t) +
                                            2 * sizeof(FlsmServed) +
                                            sizeof(std::vector<FlsmLevelStatistics>));

}  // namespace rocktune
