#pragma once

#include <cstdint>
#include <string>

#include "rocktune/util/progress.h"
#include "rocktune/workload/trace_file.h"

namespace rocktune {

struct TraceImportRequest {
  std::string source;  // the trace
  std::string target;  // the file of operations to write
  uint64_t unknown_scan_length =
      100;  // entries that a scan reads if the trace states neither length nor bound
  // Directory of the database that the trace was recorded on; empty if its keys are not known.
  std::string preload_from;
};

// Size of values that the trace does not state.
inline constexpr uint64_t kUnknownValueBytes = 1024;
// Maximum length of a scan, in entries.
inline constexpr uint64_t kMaxScanLength = 100'000;

// Reads a trace twice, writes its operations into a file of their own, with ranks for keys (see KeyRanks),
// and returns their summary. A key counts as present at the start if its first operation is not a put; with a
// database, if the database has it (see StoredMerge). Times that go back are those of the operation before.
// Memory is bounded by 200 MB, and with a database by three bits for each of its keys in addition. Calls
// `progress` with the phase "import" (bytes of the trace, which is read twice) and those of StoredMerge. A
// directory next to the target holds the sorted keys for that time.
// Failure: throws std::invalid_argument as TraceSource and StoredMerge do, or if the trace holds no
// operation; and std::runtime_error if a file cannot be written.
TraceSummary ImportTrace(const TraceImportRequest& request, const Progress& progress);

}  // namespace rocktune
