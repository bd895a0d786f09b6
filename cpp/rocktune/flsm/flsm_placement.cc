#include "rocktune/flsm/flsm_placement.h"

#include <algorithm>

namespace rocktune {
namespace {

// Returns the first level whose capacity is at least `bytes`, or the deepest one.
int LevelFor(const FlsmShape& shape, uint64_t bytes) {
  int number = 1;
  while (number < shape.deepest() && shape.Capacity(number) < bytes) {
    ++number;
  }
  return number;
}

}  // namespace

rocksdb::Status PlacesOf(const FlsmShape& shape, const rocksdb::ColumnFamilyMetaData& metadata,
                         std::vector<RunPlace>* places) {
  places->clear();
  int level = 1;
  for (const rocksdb::LevelMetaData& each : metadata.levels) {
    const bool stays = each.level == 0 && each.size <= shape.Capacity(1);
    if (!each.files.empty() && !stays) {
      level = std::max(level, LevelFor(shape, each.size));
      places->push_back({each.level, shape.LastSlot(level), each.size});
    }
  }
  int below = shape.PhysicalLevels();
  for (auto place = places->rbegin(); place != places->rend(); ++place) {
    place->to = std::max(place->from, std::min(place->to, below - 1));
    if (place->to >= below) {
      return rocksdb::Status::NotSupported(
          "the database has too many levels for this layout; use a larger size_ratio or more levels");
    }
    below = place->to;
  }
  return rocksdb::Status::OK();
}

}  // namespace rocktune
