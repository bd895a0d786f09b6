#include "rocktune/flsm/flsm_tables.h"

#include <algorithm>
#include <cctype>

namespace rocktune {

uint64_t TableNumber(const std::string& name) {
  const std::size_t end = std::min(name.rfind('.'), name.size());
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0) {
    --begin;
  }
  return begin == end ? 0 : std::stoull(name.substr(begin, end - begin));
}

std::string TableName(uint64_t number) { return std::to_string(number) + ".sst"; }

void FlsmTables::Read(const rocksdb::ColumnFamilyMetaData& metadata) {
  levels_.clear();
  deleted_.clear();
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      levels_[level.level].emplace(TableNumber(file.name), file.size);
    }
  }
}

void FlsmTables::AddFlushed(const FlsmTable& table) {
  if (table.number > newest_compacted_) {
    levels_[0].emplace(table.number, table.bytes);
  }
}

void FlsmTables::Replace(const std::vector<FlsmTable>& used, int output, const std::vector<FlsmTable>& made) {
  for (const FlsmTable& table : used) {
    for (auto& [physical, tables] : levels_) {
      deleted_.erase(table.number);
      if (tables.erase(table.number) > 0 && physical == 0) {
        newest_compacted_ = std::max(newest_compacted_, table.number);
      }
    }
  }
  for (const FlsmTable& table : made) {
    levels_[output].emplace(table.number, table.bytes);
  }
}

std::vector<FlsmTable> FlsmTables::At(const std::vector<int>& physical) const {
  std::vector<FlsmTable> tables;
  for (const int level : physical) {
    if (const auto found = levels_.find(level); found != levels_.end()) {
      for (const auto& [number, bytes] : found->second) {
        tables.push_back({number, bytes});
      }
    }
  }
  return tables;
}

void FlsmTables::Use(const std::vector<FlsmTable>& tables) {
  for (const FlsmTable& table : tables) {
    used_.insert(table.number);
  }
}

void FlsmTables::Release(const std::vector<FlsmTable>& tables) {
  for (const FlsmTable& table : tables) {
    used_.erase(table.number);
  }
}

bool FlsmTables::MarkDeleted(uint64_t number) {
  const bool is_known = std::any_of(levels_.begin(), levels_.end(),
                                    [number](const auto& level) { return level.second.contains(number); });
  if (is_known) {
    deleted_.insert(number);
  }
  return is_known;
}

bool FlsmTables::HasDeletedTables() const {
  return std::any_of(deleted_.begin(), deleted_.end(),
                     [this](uint64_t number) { return !used_.contains(number); });
}

uint64_t FlsmTables::Count(int physical) const {
  const auto found = levels_.find(physical);
  return found == levels_.end() ? 0 : found->second.size();
}

uint64_t FlsmTables::Bytes(int physical) const {
  uint64_t bytes = 0;
  if (const auto found = levels_.find(physical); found != levels_.end()) {
    for (const auto& [number, size] : found->second) {
      bytes += size;
    }
  }
  return bytes;
}

}  // namespace rocktune
