#include "rocktune/options/option_rules.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace rocktune {
namespace {

constexpr uint64_t kMinWriteBufferBytes = 64 << 10;
constexpr uint64_t kMaxWriteBufferBytes = uint64_t{64} << 30;
constexpr int kMinOpenFiles = 20;

// Pairs of "this is kept" and the rule in words.
using Rules = std::vector<std::pair<bool, const char*>>;

std::string FirstBroken(const Rules& rules) {
  for (const auto& [kept, rule] : rules) {
    if (!kept) {
      return rule;
    }
  }
  return "";
}

uint64_t OrNever(uint64_t limit) { return limit == 0 ? std::numeric_limits<uint64_t>::max() : limit; }

}  // namespace

std::string BrokenRule(const rocksdb::ColumnFamilyOptions& options) {
  return FirstBroken({
      {options.write_buffer_size >= kMinWriteBufferBytes && options.write_buffer_size <= kMaxWriteBufferBytes,
       "write_buffer_size must be from 64 KiB to 64 GiB"},
      // A memtable whose first block exceeds it is full at once: each write would cause a flush.
      {options.arena_block_size <= options.write_buffer_size,
       "write_buffer_size must not be below arena_block_size; set both"},
      {options.max_write_buffer_number >= 2, "max_write_buffer_number must be at least 2"},
      {options.min_write_buffer_number_to_merge < options.max_write_buffer_number,
       "max_write_buffer_number must exceed min_write_buffer_number_to_merge"},
      {options.level0_file_num_compaction_trigger >= 1,
       "level0_file_num_compaction_trigger must be at least 1"},
      {options.level0_file_num_compaction_trigger <= options.level0_slowdown_writes_trigger,
       "level0_slowdown_writes_trigger must not be below level0_file_num_compaction_trigger"},
      {options.level0_slowdown_writes_trigger <= options.level0_stop_writes_trigger,
       "level0_stop_writes_trigger must not be below level0_slowdown_writes_trigger"},
      {OrNever(options.soft_pending_compaction_bytes_limit) <=
           OrNever(options.hard_pending_compaction_bytes_limit),
       "hard_pending_compaction_bytes_limit must not be below soft_pending_compaction_bytes_limit"},
      {options.target_file_size_base >= 1, "target_file_size_base must be at least 1"},
      {options.target_file_size_multiplier >= 1, "target_file_size_multiplier must be at least 1"},
      {options.max_bytes_for_level_base >= 1, "max_bytes_for_level_base must be at least 1"},
      {options.max_bytes_for_level_multiplier >= 1, "max_bytes_for_level_multiplier must be at least 1"},
  });
}

std::string BrokenRule(const rocksdb::DBOptions& options) {
  return FirstBroken({
      {options.max_background_jobs >= 1, "max_background_jobs must be at least 1"},
      {options.max_background_compactions == -1 || options.max_background_compactions >= 1,
       "max_background_compactions must be -1 or at least 1"},
      {options.max_background_flushes == -1 || options.max_background_flushes >= 1,
       "max_background_flushes must be -1 or at least 1"},
      {options.max_subcompactions >= 1, "max_subcompactions must be at least 1"},
      {options.delayed_write_rate >= 1, "delayed_write_rate must be at least 1"},
      {options.max_open_files == -1 || options.max_open_files >= kMinOpenFiles,
       "max_open_files must be -1 or at least 20"},
  });
}

}  // namespace rocktune
