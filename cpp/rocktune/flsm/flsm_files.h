#pragma once

#include <rocksdb/comparator.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rocktune {

// Which files of a level are pushed down next, as a pure function of what lies in two levels.

// A table of a run.
struct FlsmFile {
  std::string name;
  uint64_t bytes = 0;
  std::string smallest;  // key, likewise the largest one
  std::string largest;
};

// The tables of a run, by key; none overlaps another.
struct FlsmRunFiles {
  std::vector<FlsmFile> files;
  bool sealed = false;  // its files only go along with others
};

// Files that are pushed together.
struct FlsmPush {
  std::vector<std::string> names;
  uint64_t leaving_bytes = 0;  // of the level that they leave
  uint64_t met_bytes = 0;      // of the runs that they are merged with

  // What is written for each byte that leaves; smaller is better.
  double Cost() const {
    return static_cast<double>(leaving_bytes + met_bytes) / static_cast<double>(leaving_bytes);
  }
};

// The cheapest push of one file of `from` with all that has to go along: what it overlaps in older runs, for
// nothing newer may come to lie below, and in the runs of the next level that it is merged with. Both levels'
// runs are given from the newest on. Of equally cheap ones the one that moves less. A sealed run's file is
// chosen only where all are sealed. Names nothing where there is no file.
FlsmPush CheapestPush(const std::vector<FlsmRunFiles>& from, const std::vector<FlsmRunFiles>& into,
                      const rocksdb::Comparator* comparator);

}  // namespace rocktune
