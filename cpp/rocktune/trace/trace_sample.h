#pragma once

#include <cstdint>
#include <string>

#include "rocktune/workload/trace_file.h"

namespace rocktune {

// Makes the sample of a trace file for a 1/S model, if it does not exist: at SamplePath(path, scale), with
// one of S keys and all their operations. It has the rate, the mix, the skew and the reuse of the whole, on a
// store of 1/S of the size.
// - Keys are chosen by a hash, as SHARDS does, in blocks of neighbouring ranks, so that what lies together in
//   the whole does so in the sample. Of several hashes, the one whose sample has the whole's mix is taken.
// - Hot keys, whose single presence would change the mix, are all kept, with one of S of their operations.
// - Ranks are dense again, in the same order. The lengths of scans stay.
// - A range delete deletes the sampled keys of its range, so that the sampled keys live as long as in the
//   whole. The sample has those range deletes that have such keys.
// - Times are divided so that the rate is the whole's, which makes up for a sample of slightly more or fewer
//   operations (SHARDS' adjustment).
// The sample depends only on the file and the scale. Processes may make the same one at the same time.
//
// Returns the sample's summary, with its errors. Throws std::invalid_argument and std::runtime_error as
// TraceFile and TraceFileWriter do, and std::invalid_argument if the sample would hold no operation.
// REQUIRES: scale > 1.
TraceSummary SampleTrace(const std::string& path, uint64_t scale);

}  // namespace rocktune
