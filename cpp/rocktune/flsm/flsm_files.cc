#include "rocktune/flsm/flsm_files.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rocktune {
namespace {

// The key range of a push, both ends included.
struct Range {
  std::string smallest;
  std::string largest;
};

// Returns the files of a run that overlap the range, as positions [first, last), and widens the range to
// them. Files that share a boundary key with one of these are included: a snapshot can keep versions of a key
// in two files, which RocksDB's compactions never separate.
std::pair<std::size_t, std::size_t> Overlapping(const FlsmRunFiles& run,
                                                const rocksdb::Comparator* comparator, Range* range) {
  const auto& files = run.files;
  auto first = std::partition_point(files.begin(), files.end(), [&](const FlsmFile& file) {
    return comparator->Compare(file.largest, range->smallest) < 0;
  });
  auto last = std::partition_point(first, files.end(), [&](const FlsmFile& file) {
    return comparator->Compare(file.smallest, range->largest) <= 0;
  });
  if (first != last) {
    while (first != files.begin() && comparator->Compare((first - 1)->largest, first->smallest) == 0) {
      --first;
    }
    while (last != files.end() && comparator->Compare((last - 1)->largest, last->smallest) == 0) {
      ++last;
    }
    if (comparator->Compare(first->smallest, range->smallest) < 0) {
      range->smallest = first->smallest;
    }
    if (comparator->Compare((last - 1)->largest, range->largest) > 0) {
      range->largest = (last - 1)->largest;
    }
  }
  return {static_cast<std::size_t>(first - files.begin()), static_cast<std::size_t>(last - files.begin())};
}

// Adds the run's files that overlap the range to `bytes` and `names`, and widens the range.
void Add(const FlsmRunFiles& run, const rocksdb::Comparator* comparator, Range* range, uint64_t* bytes,
         std::vector<std::string>* names) {
  const auto [first, last] = Overlapping(run, comparator, range);
  for (std::size_t place = first; place < last; ++place) {
    *bytes += run.files[place].bytes;
    names->push_back(run.files[place].name);
  }
}

}  // namespace

FlsmPush CheapestPush(const std::vector<FlsmRunFiles>& from, const std::vector<FlsmRunFiles>& into,
                      const rocksdb::Comparator* comparator) {
  const bool all_sealed =
      std::all_of(from.begin(), from.end(), [](const FlsmRunFiles& run) { return run.sealed; });
  FlsmPush best;
  for (auto run = from.begin(); run != from.end(); ++run) {
    if (run->sealed && !all_sealed) {
      continue;
    }
    for (const FlsmFile& seed : run->files) {
      FlsmPush push;
      Range range{seed.smallest, seed.largest};
      for (auto older = run; older != from.end(); ++older) {
        Add(*older, comparator, &range, &push.leaving_bytes, &push.names);
      }
      for (const FlsmRunFiles& met : into) {
        Add(met, comparator, &range, &push.merged_bytes, &push.names);
      }
      const bool better = best.names.empty() || push.Cost() < best.Cost() ||
                          (push.Cost() == best.Cost() && push.leaving_bytes < best.leaving_bytes);
      if (push.leaving_bytes > 0 && better) {
        best = std::move(push);
      }
    }
  }
  return best;
}

}  // namespace rocktune
