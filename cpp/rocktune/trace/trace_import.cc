#include "rocktune/trace/trace_import.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "rocktune/trace/key_counts.h"
#include "rocktune/trace/key_ranks.h"
#include "rocktune/trace/sample_choice.h"
#include "rocktune/trace/stored_merge.h"
#include "rocktune/trace/trace_source.h"

namespace rocktune {
namespace {

// Operations with equal times that are spread over the step of the timestamps.
constexpr std::size_t kMaxSpread = 500'000;

// Reports progress from time to time.
class Reporter {
 public:
  Reporter(const Progress& progress, const TraceSource& source) : progress_(progress), source_(source) {}

  // `pass` is the number of passes that are done.
  void Report(int pass) {
    if (++calls_ % 4096 != 0) {
      return;
    }
    const Clock::time_point now = Clock::now();
    if (now - last_ >= kProgressInterval) {
      last_ = now;
      const auto bytes = static_cast<double>(source_.file_bytes());
      progress_("import", pass * bytes + static_cast<double>(source_.bytes_read()), 2 * bytes);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  const Progress& progress_;
  const TraceSource& source_;
  uint64_t calls_ = 0;
  Clock::time_point last_ = Clock::now();
};

// Makes operations of a trace's events.
class Converter {
 public:
  // `stored` is nullptr if the trace's database is not known.
  Converter(const TraceImportRequest& request, const std::map<uint32_t, uint64_t>& families, KeyRanks* ranks,
            StoredMerge* stored, TraceFileWriter* writer)
      : request_(request), ranks_(*ranks), stored_(stored), writer_(*writer) {
    for (const auto& [id, keys] : families) {
      indices_[id] = static_cast<uint32_t>(summary_.families.size());
      TraceFamily& family = summary_.families.emplace_back();
      family.id = id;
      family.keys = keys;
      seen_.emplace_back(WordsOf(keys));
      present_.emplace_back(WordsOf(keys));
    }
    sums_.resize(families.size());
  }

  void Convert(const TraceEvent& event, uint64_t resolution_us) {
    const auto family = indices_.find(event.family_id);
    if (family == indices_.end()) {
      ++summary_.notes["range deletes in column families without keys left out"];
      return;
    }
    TraceOperation operation;
    operation.kind = event.kind;
    operation.family = family->second;
    if (event.kind == OperationKind::kDeleteRange) {
      SetRange(event, &operation);
      CountOperation(operation);
      Emit(operation, Time(event.time_us), resolution_us);
      return;
    }
    operation.key = Rank(event.family_id, event.key);
    if (event.kind == OperationKind::kScan) {
      operation.scan_length = ScanLength(event, operation.key);
    }
    operation.value_bytes = ValueBytes(event, operation.family);
    Count(operation, event.key.size());
    Emit(operation, Time(event.time_us), resolution_us);
  }

  // Completes the file and returns its summary.
  TraceSummary Finish(const TraceNotes& notes, uint64_t resolution_us) {
    Flush(resolution_us);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      TraceFamily& family = summary_.families[i];
      family.mean_key_bytes = sums_[i].keys == 0 ? 0 : sums_[i].key_bytes / sums_[i].keys;
      family.mean_value_bytes = sums_[i].values == 0 ? 0 : sums_[i].value_bytes / sums_[i].values;
    }
    for (const auto& [note, cases] : notes) {
      summary_.notes[note] += cases;
    }
    summary_.hot_share = counts_.HotShare();
    AddStored();
    writer_.Finish(summary_, present_);
    return summary_;
  }

 private:
  struct Sums {
    uint64_t keys = 0, key_bytes = 0, values = 0, value_bytes = 0;
  };

  // Replaces the keys that are present at the start by those of the database.
  void AddStored() {
    if (stored_ == nullptr) {
      return;
    }
    for (std::size_t i = 0; i < summary_.families.size(); ++i) {
      TraceFamily& family = summary_.families[i];
      const auto found = stored_->families().find(static_cast<uint32_t>(family.id));
      if (found == stored_->families().end()) {
        present_[i].assign(present_[i].size(), 0);
        family.present_keys = 0;
        continue;
      }
      present_[i] = stored_->Take(found->second, &writer_);
      family.present_keys = found->second.stored.keys;
      family.stored = found->second.stored;
      family.max_value_bytes = std::max(family.max_value_bytes, found->second.max_value_bytes);
    }
    for (const auto& [note, cases] : stored_->Notes()) {
      summary_.notes[note] += cases;
    }
  }

  uint64_t Rank(uint32_t family, const std::string& key) {
    uint64_t rank = 0;
    if (!ranks_.RankOf(family, key, &rank)) {
      throw Changed();
    }
    return rank;
  }

  uint64_t RankOfBound(uint32_t family, const std::string& bound) {
    uint64_t rank = 0;
    if (!ranks_.RankOfBound(family, bound, &rank)) {
      throw Changed();
    }
    return rank;
  }

  std::invalid_argument Changed() const {
    return std::invalid_argument(request_.source +
                                 ": changed while it was read; import it when it is complete");
  }

  // Sets the keys of a range delete.
  void SetRange(const TraceEvent& event, TraceOperation* operation) {
    operation->key = RankOfBound(event.family_id, event.key);
    operation->range_keys = RankOfBound(event.family_id, event.bound) - operation->key;
    if (operation->range_keys == 0) {
      ++summary_.notes[std::string("range deletes without a key of the trace") +
                       (stored_ == nullptr ? "" : " or the database") +
                       ", replayed as range tombstones over no key"];
    }
  }

  uint32_t ScanLength(const TraceEvent& event, uint64_t key) {
    uint64_t length = event.scan_length;
    if (length == 0 && !event.bound.empty()) {
      ++summary_.notes[std::string("bounded scans assumed to read all keys of the trace") +
                       (stored_ == nullptr ? "" : " and the database") + " up to their bounds"];
      const uint64_t bound = Rank(event.family_id, event.bound);
      if (event.backwards) {  // both ends are read
        length = key > bound ? key - bound + 1 : 1;
      } else {
        length = bound > key ? bound - key : 1;
      }
    } else if (length == 0) {
      ++summary_.notes["scans of unknown length assumed to read " +
                       std::to_string(request_.unknown_scan_length) + " entries"];
      length = request_.unknown_scan_length;
    }
    if (length > kMaxScanLength) {
      ++summary_.notes["scans cut to 100,000 entries"];
    }
    return static_cast<uint32_t>(std::min(length, kMaxScanLength));
  }

  uint32_t ValueBytes(const TraceEvent& event, uint32_t family) {
    if (event.value_bytes) {
      const uint64_t bytes = std::min(*event.value_bytes, kMaxTraceValueBytes);
      if (bytes < *event.value_bytes) {
        ++summary_.notes["values cut to 16 MiB"];
      }
      ++sums_[family].values;
      sums_[family].value_bytes += bytes;
      summary_.families[family].max_value_bytes = std::max(summary_.families[family].max_value_bytes, bytes);
      return event.kind == OperationKind::kPut ? static_cast<uint32_t>(bytes) : 0;
    }
    if (event.kind != OperationKind::kPut) {
      return 0;
    }
    ++summary_.notes["puts of unknown size assumed to have 1,024 bytes"];
    summary_.families[family].max_value_bytes =
        std::max(summary_.families[family].max_value_bytes, kUnknownValueBytes);
    return kUnknownValueBytes;
  }

  void CountOperation(const TraceOperation& operation) {
    ++summary_.operations;
    ++summary_.families[operation.family].operations[static_cast<std::size_t>(operation.kind)];
    summary_.scan_entries += operation.scan_length;
    summary_.range_keys += operation.range_keys;
  }

  // Counts an operation on a single key, and the key.
  void Count(const TraceOperation& operation, std::size_t key_bytes) {
    CountOperation(operation);
    TraceFamily& family = summary_.families[operation.family];
    counts_.Add(KeyCode(operation.family, operation.key));
    ++sums_[operation.family].keys;
    sums_[operation.family].key_bytes += key_bytes;
    if (!HasBit(seen_[operation.family], operation.key)) {
      SetBit(&seen_[operation.family], operation.key);
      ++family.used_keys;
      if (operation.kind != OperationKind::kPut) {
        SetBit(&present_[operation.family], operation.key);
        ++family.present_keys;
      }
    }
  }

  // Returns the time since the first operation.
  uint64_t Time(uint64_t time_us) {
    if (summary_.operations == 1) {
      first_us_ = time_us;
    }
    const uint64_t since = time_us < first_us_ ? 0 : time_us - first_us_;
    if (since < last_us_ || time_us < first_us_) {
      ++summary_.notes["operations with an earlier time than the one before, replayed in the trace's order"];
    }
    last_us_ = std::max(last_us_, std::min(since, kMaxTraceTimeUs));
    return last_us_;
  }

  void Emit(TraceOperation operation, uint64_t time_us, uint64_t resolution_us) {
    if (!waiting_.empty() && (waiting_.back().time_us != time_us || waiting_.size() == kMaxSpread)) {
      Flush(resolution_us);
    }
    operation.time_us = time_us;
    waiting_.push_back(operation);
    if (resolution_us == 1) {
      Flush(resolution_us);
    }
  }

  // Writes the operations of one time, spread evenly over the step of the timestamps.
  void Flush(uint64_t resolution_us) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      waiting_[i].time_us =
          std::min(kMaxTraceTimeUs, waiting_[i].time_us + i * (resolution_us - 1) / waiting_.size());
      summary_.span_us = waiting_[i].time_us;
      writer_.Add(waiting_[i]);
    }
    waiting_.clear();
  }

  const TraceImportRequest& request_;
  KeyRanks& ranks_;
  StoredMerge* const stored_;
  TraceFileWriter& writer_;
  TraceSummary summary_;
  std::map<uint32_t, uint32_t> indices_;  // of families, by id
  std::vector<KeyBits> seen_;             // by family
  std::vector<KeyBits> present_;          // by family
  std::vector<Sums> sums_;                // by family
  KeyCounts counts_;
  std::vector<TraceOperation> waiting_;  // of equal times
  uint64_t first_us_ = 0;
  uint64_t last_us_ = 0;
};

// Adds the keys of an event.
void AddKeys(const TraceEvent& event, KeyRanks* ranks) {
  if (event.kind == OperationKind::kDeleteRange) {
    ranks->AddBound(event.family_id, event.key);
    ranks->AddBound(event.family_id, event.bound);
    return;
  }
  ranks->Add(event.family_id, event.key);
  if (!event.bound.empty()) {
    ranks->Add(event.family_id, event.bound);
  }
}

std::string NothingMessage(const std::string& path, const TraceNotes& notes) {
  std::string message = path + ": holds no operation that can be replayed";
  for (const auto& [note, cases] : notes) {
    message += "; " + note + ": " + std::to_string(cases);
  }
  return message;
}

}  // namespace

TraceSummary ImportTrace(const TraceImportRequest& request, const Progress& progress) {
  const std::unique_ptr<TraceSource> source = OpenTrace(request.source);
  Reporter reporter(progress, *source);
  KeyRanks ranks(request.target + "." + std::to_string(getpid()) + ".keys");
  TraceEvent event;
  while (source->Next(&event)) {
    AddKeys(event, &ranks);
    reporter.Report(0);
  }
  std::optional<StoredMerge> stored;
  if (!request.preload_from.empty()) {
    stored.emplace(request.preload_from, request.target + "." + std::to_string(getpid()) + ".sizes",
                   progress);
  }
  StoredMerge* const merge = stored ? &*stored : nullptr;
  std::map<uint32_t, uint64_t> families = ranks.Number(merge);
  // Range deletes name no keys.
  std::erase_if(families, [](const auto& family) { return family.second == 0; });
  if (families.empty()) {
    throw std::invalid_argument(NothingMessage(request.source, source->notes()));
  }
  if (families.size() > kMaxTraceFamilies) {
    throw std::invalid_argument(request.source +
                                ": names more than 4,096 column families; it may be damaged");
  }
  TraceFileWriter writer(request.target);
  Converter converter(request, families, &ranks, merge, &writer);
  source->Restart();
  while (source->Next(&event)) {
    converter.Convert(event, source->resolution_us());
    reporter.Report(1);
  }
  return converter.Finish(source->notes(), source->resolution_us());
}

}  // namespace rocktune
