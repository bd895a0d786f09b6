#include "rocktune/flsm/flsm_placement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace rocktune {
namespace {

// Returns a tree with levels of 100, 400 and 1600 bytes and 12 slots each: level 1 ends at physical level 12.
FlsmShape Tree() {
  FlsmShape shape;
  shape.size_ratio = 4;
  shape.level1_bytes = 100;
  shape.slots = 12;
  shape.levels.resize(3);
  return shape;
}

rocksdb::ColumnFamilyMetaData Levels(const std::map<int, uint64_t>& bytes) {
  rocksdb::ColumnFamilyMetaData metadata;
  for (int level = 0; level < 37; ++level) {
    const auto found = bytes.find(level);
    const uint64_t size = found == bytes.end() ? 0 : found->second;
    metadata.levels.emplace_back(level, size,
                                 std::vector<rocksdb::SstFileMetaData>(found == bytes.end() ? 0 : 1));
  }
  return metadata;
}

std::vector<RunPlace> Places(const std::map<int, uint64_t>& bytes) {
  std::vector<RunPlace> places;
  EXPECT_TRUE(PlacesOf(Tree(), Levels(bytes), &places).ok());
  return places;
}

TEST(FlsmPlacementTest, EachRunGoesToTheLevelThatHasRoomForIt) {
  EXPECT_EQ(Places({{0, 50}, {1, 90}, {2, 300}, {3, 1500}}),
            (std::vector<RunPlace>{{1, 12, 90}, {2, 24, 300}, {3, 36, 1500}}));
}

TEST(FlsmPlacementTest, ALargeLevelZeroBecomesARun) {
  EXPECT_EQ(Places({{0, 5000}}), (std::vector<RunPlace>{{0, 36, 5000}}));
}

TEST(FlsmPlacementTest, AnOlderRunIsNeverAboveANewerOne) {
  EXPECT_EQ(Places({{3, 300}, {6, 10}}), (std::vector<RunPlace>{{3, 23, 300}, {6, 24, 10}}));
}

TEST(FlsmPlacementTest, RunsOfOneLevelLieSideBySide) {
  EXPECT_EQ(Places({{4, 80}, {5, 90}, {6, 100}}),
            (std::vector<RunPlace>{{4, 10, 80}, {5, 11, 90}, {6, 12, 100}}));
}

TEST(FlsmPlacementTest, PlacedRunsStay) {
  EXPECT_EQ(Places({{1, 90}, {24, 300}, {36, 1500}}),
            (std::vector<RunPlace>{{1, 12, 90}, {24, 24, 300}, {36, 36, 1500}}));
  EXPECT_EQ(Places({{24, 10}}), (std::vector<RunPlace>{{24, 24, 10}})) << "smaller since it was merged";
}

TEST(FlsmPlacementTest, RefusesMoreRunsThanPlaces) {
  std::map<int, uint64_t> bytes;
  for (int level = 1; level < 37; ++level) {
    bytes[level] = 10;
  }
  std::vector<RunPlace> places;
  EXPECT_TRUE(PlacesOf(Tree(), Levels(bytes), &places).ok()) << "each stays where it is";
  FlsmShape fewer = Tree();
  fewer.levels.resize(2);
  EXPECT_TRUE(PlacesOf(fewer, Levels(bytes), &places).IsNotSupported());
}

}  // namespace
}  // namespace rocktune
