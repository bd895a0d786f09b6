#pragma once

#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/utilities/options_util.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/migrate/migration_request.h"
#include "rocktune/migrate/open_store.h"
#include "rocktune/util/fake_crash.h"

namespace rocktune {

// A closed database with three column families, for tests that change its options.
class MigrationTest : public testing::Test {
 protected:
  using Families = std::vector<rocksdb::ColumnFamilyDescriptor>;
  using Entries = std::vector<std::pair<std::string, std::string>>;

  static constexpr int kKeys = 2000;

  ~MigrationTest() override {
    for (const std::string& each : {source_, target_}) {
      std::filesystem::remove_all(each);
    }
  }

  // Returns the families as the source has them: "default", "reverse" in reverse order, and "counts" with
  // merge operands.
  static Families SourceFamilies() {
    rocksdb::ColumnFamilyOptions options;
    options.write_buffer_size = 64 << 10;
    options.target_file_size_base = 64 << 10;
    options.max_bytes_for_level_base = 128 << 10;
    options.max_bytes_for_level_multiplier = 3;
    options.compression = rocksdb::kNoCompression;
    rocksdb::ColumnFamilyOptions reverse = options;
    reverse.comparator = rocksdb::ReverseBytewiseComparator();
    rocksdb::ColumnFamilyOptions counts = options;
    EXPECT_TRUE(rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), "UInt64AddOperator",
                                                         &counts.merge_operator)
                    .ok());
    return {{"default", options}, {"reverse", reverse}, {"counts", counts}};
  }

  // Fills the source: several levels, replaced and deleted entries, and some in the WAL alone.
  void MakeSource(const Families& families = SourceFamilies()) {
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    OpenStore store;
    store.Open(options, source_, families);
    const rocksdb::WriteOptions write;
    for (int number = 0; number < 2 * kKeys; ++number) {
      const std::string key = ScatteredKey(static_cast<uint64_t>(number % kKeys));
      const std::string value = std::to_string(number) + std::string(300, 'v');
      ASSERT_TRUE(store.db()->Put(write, store.family(0), key, value).ok());
      ASSERT_TRUE(store.db()->Put(write, store.family(1), key, value).ok());
      const std::string one("\1\0\0\0\0\0\0\0", 8);
      ASSERT_TRUE(store.db()->Merge(write, store.family(2), std::to_string(number % 97), one).ok());
      if (number % 7 == 0) {
        ASSERT_TRUE(store.db()->Delete(write, store.family(1), key).ok());
      }
      if (number == kKeys) {
        ASSERT_TRUE(store.db()->DeleteRange(write, store.family(0), "1", "3").ok());
      }
    }
    store.Close();
    expected_ = EntriesOf(source_, families);
    before_ = FilesOf(source_);
  }

  // Returns the entries of each family, as a reader of a database sees them.
  static std::map<std::string, Entries> EntriesOf(const std::string& directory, const Families& families) {
    OpenStore store;
    rocksdb::DBOptions options;
    options.info_log_level = rocksdb::FATAL_LEVEL;
    store.OpenReadOnly(options, directory, families);
    std::map<std::string, Entries> entries;
    for (std::size_t index = 0; index < families.size(); ++index) {
      const std::unique_ptr<rocksdb::Iterator> iterator(
          store.db()->NewIterator(rocksdb::ReadOptions(), store.family(index)));
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
        entries[families[index].name].emplace_back(iterator->key().ToString(), iterator->value().ToString());
      }
      EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
    }
    return entries;
  }

  // Returns the content and the time of change of each file.
  static std::map<std::string, std::pair<std::string, std::filesystem::file_time_type>> FilesOf(
      const std::string& directory) {
    std::map<std::string, std::pair<std::string, std::filesystem::file_time_type>> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename().string()] = {std::string(std::istreambuf_iterator<char>(file), {}),
                                                 entry.last_write_time()};
    }
    return files;
  }

  // Returns the request that brings the source to other families.
  MigrationRequest RequestFor(const Families& wanted, const Families& present = SourceFamilies()) const {
    MigrationRequest request;
    request.source = source_;
    request.target = target_;
    const rocksdb::DBOptions db;
    request.wanted.db = MapsFromOptions(db, wanted.front().options).db;
    request.wanted.db.erase("wal_dir");
    for (const rocksdb::ColumnFamilyDescriptor& family : wanted) {
      OptionMaps maps = MapsFromOptions(db, family.options);
      request.wanted.families[family.name] = {maps.cf, maps.table};
    }
    for (const rocksdb::ColumnFamilyDescriptor& family : present) {
      request.present.families[family.name].cf = MapsFromOptions(db, family.options).cf;
    }
    return request;
  }

  // Opens a database with the options in its newest OPTIONS file, expects the source's entries in it, and
  // returns its families.
  Families ExpectEntries(const std::string& directory) const {
    rocksdb::DBOptions options;
    Families families;
    const rocksdb::Status status =
        rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), directory, &options, &families);
    EXPECT_TRUE(status.ok()) << status.ToString();
    OpenStore store;
    store.Open(options, directory, families);
    store.Close();
    std::map<std::string, Entries> found = EntriesOf(directory, families);
    EXPECT_EQ(found.size(), expected_.size());
    for (auto& [family, entries] : found) {
      std::sort(entries.begin(), entries.end());
      Entries expected = expected_.at(family);
      std::sort(expected.begin(), expected.end());
      EXPECT_TRUE(entries == expected) << family;
    }
    return families;
  }

  void ExpectSourceUntouched() const { EXPECT_TRUE(FilesOf(source_) == before_); }

  static std::string NewPath(const std::string& name) {
    return testing::TempDir() + "store-migration-" + std::to_string(getpid()) + name;
  }

  static constexpr auto kSilent = [](const char*, double, double) {};

  std::map<std::string, Entries> expected_;
  std::map<std::string, std::pair<std::string, std::filesystem::file_time_type>> before_;
  const std::string source_ = NewPath("-source");
  const std::string target_ = NewPath("-target");
};

}  // namespace rocktune
