// Tables that an FLSM store ingests are newer than what it merges meanwhile. ROCKTUNE_INGESTIONS sets how
// many are ingested in each test.

#include "rocktune/flsm/flsm_commits.h"

#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/flsm/fake_flsm_families.h"
#include "rocktune/util/manifest_guard.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

int IngestionCount() {
  const char* count = std::getenv("ROCKTUNE_INGESTIONS");
  return count == nullptr ? 200 : std::atoi(count);
}

class FlsmCommitsTest : public FlsmFamiliesTest {
 protected:
  static std::string Key(uint64_t number) { return std::to_string(10'000 + number % kKeys); }

  // Writes to all families about as much as half a memtable holds.
  void Write(const std::string& value) {
    rocksdb::WriteOptions synced;
    synced.sync = true;
    for (int batches = 0; batches < kBatches; ++batches) {
      rocksdb::WriteBatch batch;
      for (rocksdb::ColumnFamilyHandle* family : handles_) {
        for (int entries = 0; entries < 2; ++entries) {
          ASSERT_TRUE(batch.Put(family, Key(random_()), value + std::string(random_() % 700, 'w')).ok());
        }
      }
      ASSERT_TRUE(store_->Write(synced, &batch).ok());
    }
  }

  // Ingests a table of `keys` into each family.
  void Ingest(const std::map<std::string, std::string>& entries) {
    std::vector<rocksdb::IngestExternalFileArg> arguments;
    for (rocksdb::ColumnFamilyHandle* family : handles_) {
      const std::string path = directory_ + "-more.sst-" + family->GetName();
      rocksdb::SstFileWriter writer((rocksdb::EnvOptions()), SmallOptions());
      ASSERT_TRUE(writer.Open(path).ok());
      for (const auto& [key, value] : entries) {
        ASSERT_TRUE(writer.Put(key, value).ok());
      }
      ASSERT_TRUE(writer.Finish().ok());
      rocksdb::IngestExternalFileArg& argument = arguments.emplace_back();
      argument.column_family = family;
      argument.external_files = {path};
    }
    rocksdb::Status status;
    do {
      status = store_->IngestExternalFiles(arguments);
    } while (status.IsTryAgain());  // RocksDB 7.8; see docs/design/rocksdb-faults.md
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  void ExpectNewest(const std::map<std::string, std::string>& entries) {
    std::string found;
    for (rocksdb::ColumnFamilyHandle* family : handles_) {
      for (const auto& [key, value] : entries) {
        ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), family, key, &found).ok());
        ASSERT_EQ(found.substr(0, 12), value.substr(0, 12))
            << family->GetName() << " " << key << ", " << ToText(store_->Shape(family));
      }
    }
  }

  static constexpr uint64_t kKeys = 4000;
  static constexpr int kBatches = 40;
  std::mt19937_64 random_{1};
};

TEST_F(FlsmCommitsTest, IngestedTablesAreNewerThanMergedOnes) {
  OpenThree();
  for (int number = 0; number < IngestionCount() && !HasFatalFailure(); ++number) {
    Write("written" + std::to_string(number));
    std::map<std::string, std::string> entries;
    const uint64_t first = random_();
    const uint64_t span = random_() % 2 == 0 ? kKeys : 40;
    for (uint64_t left = 1 + random_() % 30; left > 0; --left) {
      entries[Key(first + random_() % span)] = "ingested" + std::to_string(number);
    }
    Ingest(entries);
    ExpectNewest(entries);
  }
}

// An ingestion waits for writes that are stopped, and they for compactions, which must not wait for it.
TEST_F(FlsmCommitsTest, CompactionsGoOnWhileIngestionsWait) {
  std::vector<FlsmFamily> families = Three();
  for (FlsmFamily& family : families) {
    family.options.level0_file_num_compaction_trigger = 1;
    family.options.level0_slowdown_writes_trigger = 3;
    family.options.level0_stop_writes_trigger = 3;
  }
  ASSERT_TRUE(OpenFamilies(families, directory_).ok());
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    for (uint64_t number = 0; !ends; ++number) {
      rocksdb::ColumnFamilyHandle* family = handles_[number % handles_.size()];
      ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), family, Key(number * 7), std::string(2000, 'w')).ok());
    }
  });
  for (int number = 0; number < IngestionCount() && !HasFatalFailure(); ++number) {
    Ingest({{Key(static_cast<uint64_t>(number) * 11), "ingested"}});
  }
  ends = true;
  writer.join();
  EXPECT_TRUE(store_->WaitUntilSettled().ok());
}

TEST_F(FlsmCommitsTest, CompactionsEndWhileAnIngestionRuns) {
  const auto guard = std::make_shared<ManifestGuard>();
  const auto commits = std::make_shared<FlsmCommits>(guard);
  rocksdb::Options options = SmallOptions();
  options.compaction_style = rocksdb::kCompactionStyleNone;
  options.listeners = {guard, commits};
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_TRUE(OpenDatabase(options, directory_, &db).ok());
  const FlsmCommits::Ingestion ingestion(commits.get());
  for (const char* value : {"a", "b"}) {  // the second table overlaps the first one, which has moved
    ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "key", value).ok());
    ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
    std::vector<rocksdb::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    rocksdb::CompactionOptions how;
    std::atomic<bool> never{false};
    EnableTrivialMoveAndCancel(&never, &how);
    ASSERT_TRUE(
        commits->CompactFiles(db.get(), db->DefaultColumnFamily(), how, {files.front().name}, 1).ok());
  }
  std::string value;
  ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), "key", &value).ok());
  EXPECT_EQ(value, "b");
}

}  // namespace
}  // namespace rocktune
