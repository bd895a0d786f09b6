#include "rocktune/device/stored_files.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace rocktune {
namespace {

// The counts must be equal with a limited capacity, which keeps a total, and with an unlimited one.
class CountedFilesTest : public testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Capacity, CountedFilesTest, testing::Values(0, 1 << 20));

TEST_P(CountedFilesTest, CountsTheSizesOfFiles) {
  StoredFiles files(GetParam());
  const auto one = files.Create("/db/1.sst");
  const auto two = files.Create("/db/2.sst");
  EXPECT_TRUE(files.Grow(one.get(), 100));
  EXPECT_TRUE(files.Grow(two.get(), 50));
  EXPECT_TRUE(files.Grow(one.get(), 80));  // overwrites, and adds nothing
  EXPECT_EQ(files.bytes(), 150u);
  files.Shrink(two.get(), 20);
  EXPECT_EQ(files.bytes(), 120u);
  files.Truncate("/db/1.sst", 10);
  EXPECT_EQ(files.bytes(), 30u);
  files.Remove("/db//1.sst");  // one slash or two
  EXPECT_EQ(files.bytes(), 20u);
  files.Remove("/db/1.sst");
  files.Remove("/db/unknown.sst");
  EXPECT_EQ(files.bytes(), 20u);
}

TEST(StoredFilesTest, RefusesGrowthBeyondTheCapacity) {
  StoredFiles files(100);
  const auto one = files.Create("1.sst");
  const auto two = files.Create("2.sst");
  EXPECT_TRUE(files.Grow(one.get(), 60));
  EXPECT_FALSE(files.Grow(two.get(), 41));
  EXPECT_EQ(files.bytes(), 60u);
  EXPECT_TRUE(files.Grow(two.get(), 40));
  files.Remove("1.sst");
  EXPECT_TRUE(files.Grow(two.get(), 100));
}

TEST_P(CountedFilesTest, CreateAndRenameReplaceAFile) {
  StoredFiles files(GetParam());
  EXPECT_TRUE(files.Grow(files.Create("1.log").get(), 10));
  EXPECT_TRUE(files.Grow(files.Create("1.log").get(), 5));
  EXPECT_EQ(files.bytes(), 5u);
  EXPECT_TRUE(files.Grow(files.Create("2.log").get(), 7));
  files.Rename("2.log", "1.log");
  EXPECT_EQ(files.bytes(), 7u);
  files.Rename("1.log", "1.log");
  files.Rename("unknown", "elsewhere");
  EXPECT_EQ(files.bytes(), 7u);
  files.Remove("1.log");
  EXPECT_EQ(files.bytes(), 0u);
}

TEST_P(CountedFilesTest, LinkedFilesCountOnce) {
  StoredFiles files(GetParam());
  EXPECT_TRUE(files.Grow(files.Create("1.sst").get(), 10));
  files.Link("1.sst", "clone/1.sst");
  files.Link("unknown", "clone/2.sst");
  EXPECT_EQ(files.bytes(), 10u);
  files.Remove("1.sst");
  EXPECT_EQ(files.bytes(), 10u);
  files.Remove("clone/1.sst");
  EXPECT_EQ(files.bytes(), 0u);
}

TEST_P(CountedFilesTest, AnOpenedFileCountsOnce) {
  StoredFiles files(GetParam());
  const auto file = files.Open("1.log", 30);
  EXPECT_EQ(files.Open("1.log", 30), file);
  EXPECT_EQ(files.bytes(), 30u);
}

TEST_P(CountedFilesTest, AdoptedFilesCountInAllBytesAlone) {
  StoredFiles files(GetParam());
  files.Adopt("db/1.sst", 30);
  files.Adopt("db/2.sst", 40);
  files.Adopt("db/3.log", 50);
  EXPECT_TRUE(files.Grow(files.Create("db/4.sst").get(), 7));
  EXPECT_EQ(files.bytes(), 7u);
  EXPECT_EQ(files.all_bytes(), 127u);
  files.Remove("db/1.sst");
  files.Truncate("db/2.sst", 10);
  files.Link("db/2.sst", "db/clone.sst");
  EXPECT_EQ(files.bytes(), 7u);
  EXPECT_EQ(files.all_bytes(), 67u);
  // A log that is written to again is the run's.
  files.Rename("db/3.log", "db/5.log");
  const auto reused = files.Open("db/5.log", 0);
  EXPECT_EQ(files.bytes(), 57u);
  EXPECT_TRUE(files.Grow(reused.get(), 60));
  EXPECT_EQ(files.bytes(), 67u);
  files.Remove("db/5.log");
  EXPECT_EQ(files.bytes(), 7u);
  files.Create("db/2.sst");
  files.Remove("db/clone.sst");
  EXPECT_EQ(files.all_bytes(), 7u);
}

TEST(StoredFilesTest, ConcurrentWritersNeverExceedTheCapacity) {
  StoredFiles files(10000);
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&files, file = files.Create(std::to_string(i))] {
      for (uint64_t bytes = 1; files.Grow(file.get(), bytes); ++bytes) {
        EXPECT_LE(file->bytes(), 10000u);
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  // Writers whose last reservations overlap may all fail and leave up to 4 bytes unused.
  EXPECT_LE(files.bytes(), 10000u);
  EXPECT_GE(files.bytes(), 10000u - 4);
}

}  // namespace
}  // namespace rocktune
