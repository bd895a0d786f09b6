#include "rocktune/flsm/flsm_files.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
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

// A file of a run that begins a piece, or is added to it.
struct Seed {
  std::size_t run = 0;  // position of its run, from the newest on
  const FlsmFile* file = nullptr;
};

// Returns the files of all runs by ascending smallest keys.
std::vector<Seed> ByKey(const std::vector<FlsmRunFiles>& runs, const rocksdb::Comparator* comparator) {
  std::vector<Seed> seeds;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const FlsmFile& file : runs[run].files) {
      seeds.push_back({run, &file});
    }
  }
  std::stable_sort(seeds.begin(), seeds.end(), [comparator](const Seed& left, const Seed& right) {
    return comparator->Compare(left.file->smallest, right.file->smallest) < 0;
  });
  return seeds;
}

// Returns the ranges that the first `count` seeds need in each of `runs` runs, without their overlap.
std::vector<std::optional<Range>> RangesOf(const std::vector<Seed>& seeds, std::size_t count,
                                           std::size_t runs, const rocksdb::Comparator* comparator) {
  std::vector<std::optional<Range>> ranges(runs);
  for (std::size_t place = 0; place < count; ++place) {
    const FlsmFile& file = *seeds[place].file;
    std::optional<Range>& range = ranges[seeds[place].run];
    if (!range) {
      range = Range{file.smallest, file.largest};
    } else if (comparator->Compare(file.largest, range->largest) > 0) {
      range->largest = file.largest;
    }
  }
  return ranges;
}

// Adds the run's files that overlap the range to `piece`, and widens the range.
void Add(const FlsmRunFiles& run, const rocksdb::Comparator* comparator, Range* range,
         std::vector<FlsmFile>* piece) {
  const auto [first, last] = Overlapping(run, comparator, range);
  piece->insert(piece->end(), run.files.begin() + static_cast<std::ptrdiff_t>(first),
                run.files.begin() + static_cast<std::ptrdiff_t>(last));
}

// Makes `range` contain `other`.
void Widen(const std::optional<Range>& other, const rocksdb::Comparator* comparator,
           std::optional<Range>* range) {
  if (!*range) {
    *range = other;
  } else if (other) {
    if (comparator->Compare(other->smallest, (*range)->smallest) < 0) {
      (*range)->smallest = other->smallest;
    }
    if (comparator->Compare(other->largest, (*range)->largest) > 0) {
      (*range)->largest = other->largest;
    }
  }
}

}  // namespace

std::vector<FlsmFile> NextPiece(const std::vector<FlsmRunFiles>& from, const FlsmRunFiles& into,
                                uint64_t max_bytes, const rocksdb::Comparator* comparator) {
  const std::vector<Seed> seeds = ByKey(from, comparator);
  std::vector<FlsmFile> best;
  for (std::size_t count = 1; count <= seeds.size(); ++count) {
    const auto ranges = RangesOf(seeds, count, from.size(), comparator);
    std::vector<FlsmFile> piece;
    std::optional<Range> range;
    for (std::size_t run = 0; run < from.size(); ++run) {
      Widen(ranges[run], comparator, &range);
      if (range) {
        Add(from[run], comparator, &*range, &piece);
      }
    }
    Add(into, comparator, &*range, &piece);  // there is a range, since there is a seed
    const uint64_t bytes =
        std::accumulate(piece.begin(), piece.end(), uint64_t{0},
                        [](uint64_t sum, const FlsmFile& file) { return sum + file.bytes; });
    if (!best.empty() && bytes > max_bytes) {
      break;
    }
    best = std::move(piece);
  }
  return best;
}

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
