#include "rocktune/trace/stored_merge.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace rocktune {
namespace {

constexpr std::size_t kChunkKeys = 1 << 16;

}  // namespace

StoredMerge::StoredMerge(const std::string& directory, const std::string& sizes_path,
                         const Progress& progress)
    : directory_(directory),
      sizes_path_(sizes_path),
      progress_(progress),
      keys_(directory),
      sizes_(std::fopen(sizes_path.c_str(), "w+b")) {
  if (sizes_ == nullptr) {
    throw std::runtime_error(sizes_path_ + ": cannot be written: " + std::strerror(errno));
  }
  for (const uint32_t family : keys_.Families()) {
    estimated_ += static_cast<double>(keys_.EstimatedKeys(family));
  }
}

StoredMerge::~StoredMerge() {
  std::fclose(sizes_);
  std::remove(sizes_path_.c_str());
}

void StoredMerge::Enter(uint32_t family_id) {
  if (!begun_ || family_id != family_id_) {
    EndFamily();
    Begin(family_id);
  }
}

uint64_t StoredMerge::RankOfBound(uint32_t family_id, const rocksdb::Slice& bound) {
  Enter(family_id);
  if (family_ == nullptr) {
    return missing_[family_id];
  }
  while (keys_.Valid() && keys_.key().compare(bound) < 0) {
    Pass();
  }
  return family_->keys;
}

uint64_t StoredMerge::Rank(uint32_t family_id, const rocksdb::Slice& key) {
  Enter(family_id);
  if (family_ == nullptr) {
    return missing_[family_id]++;
  }
  int order = 1;
  while (keys_.Valid() && (order = keys_.key().compare(key)) < 0) {
    Pass();
  }
  if (keys_.Valid() && order == 0) {
    ++family_->touched_keys;
    Pass();
  } else {
    Append(kNotStored);
    ++missing_[family_id];
  }
  return family_->keys - 1;
}

void StoredMerge::Begin(uint32_t family_id) {
  begun_ = true;
  family_id_ = family_id;
  family_ = nullptr;
  key_bytes_ = 0;
  if (keys_.Has(family_id)) {
    family_ = &families_[family_id];
    keys_.Begin(family_id);
  }
}

void StoredMerge::Pass() {
  StoredEntries& stored = family_->stored;
  const uint64_t all_bytes = keys_.ValueBytes();
  const uint64_t bytes = std::min(all_bytes, kMaxTraceValueBytes);
  cut_values_ += bytes < all_bytes;
  ++stored.keys;
  stored.value_bytes += bytes;
  family_->max_value_bytes = std::max(family_->max_value_bytes, bytes);
  key_bytes_ += keys_.key().size();
  Append(static_cast<uint32_t>(bytes));
  keys_.Next();
  Report();
}

void StoredMerge::EndFamily() {
  if (family_ == nullptr) {
    return;
  }
  while (keys_.Valid()) {
    Pass();
  }
  StoredEntries& stored = family_->stored;
  stored.untouched_keys = stored.keys - family_->touched_keys;
  stored.mean_key_bytes = stored.keys == 0 ? 0 : key_bytes_ / stored.keys;
  family_ = nullptr;
}

void StoredMerge::Finish() {
  EndFamily();
  if (std::fflush(sizes_) != 0) {
    throw std::runtime_error(sizes_path_ + ": cannot be written: " + std::strerror(errno));
  }
  std::rewind(sizes_);
  const bool shared = std::any_of(families_.begin(), families_.end(),
                                  [](const auto& family) { return family.second.touched_keys > 0; });
  if (!shared) {
    throw std::invalid_argument(directory_ +
                                ": has not one of the trace's keys; give the database that the trace was "
                                "recorded on");
  }
}

KeyBits StoredMerge::Take(const Family& family, TraceFileWriter* writer) {
  KeyBits bits(WordsOf(family.keys));
  for (uint64_t first = 0; first < family.keys; first += kChunkKeys) {
    std::vector<uint32_t> bytes(
        static_cast<std::size_t>(std::min<uint64_t>(kChunkKeys, family.keys - first)));
    if (std::fread(bytes.data(), sizeof(uint32_t), bytes.size(), sizes_) != bytes.size()) {
      throw std::runtime_error(sizes_path_ + ": cannot be read: " + std::strerror(errno));
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != kNotStored) {
        SetBit(&bits, first + i);
      }
    }
    writer->AddStoredSizes(bytes);
  }
  return bits;
}

TraceNotes StoredMerge::Notes() const {
  TraceNotes notes = keys_.Notes();
  uint64_t missing = 0;
  for (const auto& [family, keys] : missing_) {
    missing += keys;
  }
  uint64_t other_keys = 0;
  for (const uint32_t family : keys_.Families()) {
    other_keys += families_.contains(family) ? 0 : keys_.EstimatedKeys(family);
  }
  const auto add = [&notes](const std::string& note, uint64_t cases) {
    if (cases > 0) {
      notes[note] = cases;
    }
  };
  add("keys of the trace that the database lacks, missing until the trace puts them", missing);
  add("keys of column families that the trace does not name left out", other_keys);
  add("stored values cut to 16 MiB", cut_values_);
  return notes;
}

void StoredMerge::Append(uint32_t bytes) {
  if (std::fwrite(&bytes, sizeof(bytes), 1, sizes_) != 1) {
    throw std::runtime_error(sizes_path_ + ": cannot be written: " + std::strerror(errno));
  }
  ++family_->keys;
}

void StoredMerge::Report() {
  if (++passed_ % 4096 != 0) {
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_report_ >= kProgressInterval) {
    last_report_ = now;
    const auto done = static_cast<double>(passed_);
    progress_("stored-keys", done, std::max(done, estimated_));
  }
}

}  // namespace rocktune
