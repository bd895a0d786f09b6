#pragma once

#include <rocksdb/comparator.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rocktune {

// The choice of files for a push with FlsmGranularity::kFiles (RusKey, section 7), as a pure function of the
// files of two levels.

// A table of a run.
struct FlsmFile {
  std::string name;
  uint64_t bytes = 0;
  std::string smallest;  // smallest key
  std::string largest;   // largest key
};

// The tables of a run, ordered by key. Their key ranges do not overlap, except for a shared boundary key.
struct FlsmRunFiles {
  std::vector<FlsmFile> files;
  bool sealed = false;  // true if its files are pushed only together with files of other runs
};

// Files that are pushed together. No names means no push.
struct FlsmPush {
  std::vector<std::string> names;
  uint64_t leaving_bytes = 0;  // bytes of files of the pushed level
  uint64_t merged_bytes = 0;   // bytes of files of the next level, with which these are merged

  // Returns the bytes written for each byte that leaves the level, at least 1. REQUIRES: leaving_bytes > 0.
  double Cost() const {
    return static_cast<double>(leaving_bytes + merged_bytes) / static_cast<double>(leaving_bytes);
  }
};

// Returns the push with the minimum cost that begins with one file of `from`; of equal ones the one that
// moves fewer bytes. A push includes the file's overlap with older runs of `from`, since newer entries must
// not get below older ones, and with the runs of `into`. Both levels list their runs from the newest to the
// oldest. The first file is of a run that is not sealed, unless all are sealed. Returns no names if `from`
// has no file.
FlsmPush CheapestPush(const std::vector<FlsmRunFiles>& from, const std::vector<FlsmRunFiles>& into,
                      const rocksdb::Comparator* comparator);

// Returns the files of the next piece of a merge of the runs `from`, listed from the newest to the oldest,
// into the run `into`, which is older and may have no file yet. Pieces go by ascending keys and read at most
// `max_bytes`, or more if the first file overlaps more. As in a push, the file's overlap with all older runs
// is included, so newer entries stay above older ones after each piece. Files of `into` that overlap nothing
// stay. Returns no file if `from` has no file.
std::vector<FlsmFile> NextPiece(const std::vector<FlsmRunFiles>& from, const FlsmRunFiles& into,
                                uint64_t max_bytes, const rocksdb::Comparator* comparator);

}  // namespace rocktune
