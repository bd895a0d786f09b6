// A copy of a database has its entries and other options; the source never changes.

#include "rocktune/migrate/store_copy.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "rocktune/migrate/migration_fixture.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/throttled_file_system.h"
#include "rocktune/util/fake_dying_process.h"
#include "rocktune/util/fake_failing_disk.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// A change of options, by its name in messages.
struct Change {
  const char* name;
  std::function<void(rocksdb::ColumnFamilyOptions*)> change;
};

const std::vector<Change>& Changes() {
  static const std::vector<Change> changes = {
      {"universal", [](auto* options) { options->compaction_style = rocksdb::kCompactionStyleUniversal; }},
      {"fewer_levels", [](auto* options) { options->num_levels = 2; }},
      {"level0_alone",
       [](auto* options) {
         options->compaction_style = rocksdb::kCompactionStyleUniversal;
         options->num_levels = 1;
       }},
      {"blobs",
       [](auto* options) {
         options->enable_blob_files = true;
         options->min_blob_size = 100;
       }},
      {"small_tables", [](auto* options) { options->target_file_size_base = 16 << 10; }},
      {"other_order",
       [](auto* options) {
         options->comparator = options->comparator == rocksdb::BytewiseComparator()
                                   ? rocksdb::ReverseBytewiseComparator()
                                   : rocksdb::BytewiseComparator();
       }},
  };
  return changes;
}

class StoreCopyTest : public MigrationTest {
 protected:
  MigrationRequest RequestFor(const std::string& name) const {
    Families wanted = SourceFamilies();
    for (const Change& change : Changes()) {
      if (name == change.name) {
        for (rocksdb::ColumnFamilyDescriptor& family : wanted) {
          change.change(&family.options);
        }
      }
    }
    return MigrationTest::RequestFor(wanted);
  }

  // Returns the message of the failure of a copy, and expects its kind.
  static std::string Failure(const MigrationRequest& request, RunFailure kind,
                             rocksdb::Env* env = rocksdb::Env::Default()) {
    try {
      CopyStore(request, env, kSilent);
    } catch (const RunError& error) {
      EXPECT_EQ(error.failure(), kind) << error.what();
      return error.what();
    }
    return "it did not fail";
  }
};

class StoreCopyChangesTest : public StoreCopyTest, public testing::WithParamInterface<const char*> {};

TEST_P(StoreCopyChangesTest, HasTheEntriesAndTheNewOptions) {
  MakeSource();
  const MigrationRequest request = RequestFor(GetParam());
  const StoreCopy copy = CopyStore(request, rocksdb::Env::Default(), kSilent);
  EXPECT_FALSE(copy.continued);
  ASSERT_EQ(copy.families.size(), 3u);
  EXPECT_EQ(copy.families[0].entries, expected_.at("default").size());
  ExpectSourceUntouched();
  for (const rocksdb::ColumnFamilyDescriptor& family : ExpectEntries(target_)) {
    const OptionMaps::Map found = MapsFromOptions(rocksdb::DBOptions(), family.options).cf;
    for (const char* name : {"compaction_style", "num_levels", "enable_blob_files", "target_file_size_base",
                             "comparator", "disable_auto_compactions"}) {
      EXPECT_EQ(found.at(name), request.wanted.families.at(family.name).cf.at(name)) << name;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(target_ + "/ROCKTUNE_MIGRATION"));
}

INSTANTIATE_TEST_SUITE_P(Changes, StoreCopyChangesTest,
                         testing::Values("universal", "fewer_levels", "level0_alone", "blobs", "small_tables",
                                         "other_order"),
                         [](const auto& change) { return std::string(change.param); });

TEST_F(StoreCopyTest, ValuesAreInBlobFiles) {
  MakeSource();
  CopyStore(RequestFor("blobs"), rocksdb::Env::Default(), kSilent);
  const auto files = FilesOf(target_);
  EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                          [](const auto& file) { return file.first.ends_with(".blob"); }));
}

TEST_F(StoreCopyTest, WideColumnsAreCopiedOrRefused) {
  MakeSource();
  {
    OpenStore store;
    store.Open(rocksdb::DBOptions(), source_, SourceFamilies());
    ASSERT_TRUE(store.db()
                    ->PutEntity(rocksdb::WriteOptions(), store.family(0), "wide",
                                rocksdb::WideColumns{{"", "default"}, {"name", "value"}})
                    .ok());
  }
  if (ROCKSDB_MAJOR < 9) {
    EXPECT_NE(Failure(RequestFor("universal"), RunFailure::kInvalid).find("'default'"), std::string::npos);
    return;
  }
  CopyStore(RequestFor("universal"), rocksdb::Env::Default(), kSilent);
  OpenStore store;
  store.OpenReadOnly(rocksdb::DBOptions(), target_, SourceFamilies());
  rocksdb::PinnableWideColumns columns;
  ASSERT_TRUE(store.db()->GetEntity(rocksdb::ReadOptions(), store.family(0), "wide", &columns).ok());
  EXPECT_EQ(columns.columns(), (rocksdb::WideColumns{{"", "default"}, {"name", "value"}}));
}

TEST_F(StoreCopyTest, NamesTheFamilyThatItRefuses) {
  MakeSource();
  MigrationRequest request = RequestFor("universal");
  request.present.families["counts"].cf["merge_operator"] = "my.Own";
  EXPECT_NE(
      Failure(request, RunFailure::kInvalid).find("'counts': it has operands of the merge operator 'my.Own'"),
      std::string::npos);
  request = RequestFor("universal");
  request.present.families["reverse"].cf["comparator"] = "my.Own";
  EXPECT_NE(Failure(request, RunFailure::kInvalid).find("'reverse': its comparator 'my.Own'"),
            std::string::npos);
  request = RequestFor("universal");
  request.wanted.families["default"].cf["compaction_style"] = "kCompactionStyleFIFO";
  EXPECT_NE(Failure(request, RunFailure::kInvalid).find("'default': FIFO"), std::string::npos);
  request = RequestFor("universal");
  request.wanted.families.erase("counts");
  EXPECT_NE(Failure(request, RunFailure::kInvalid).find("'counts'"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(target_));
  ExpectSourceUntouched();
}

TEST_F(StoreCopyTest, RefusesPreparedTransactions) {
  MakeSource();
  rocksdb::TransactionDB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  ASSERT_TRUE(rocksdb::TransactionDB::Open({}, {}, source_, SourceFamilies(), &handles, &opened).ok());
  const std::unique_ptr<rocksdb::TransactionDB> database(opened);
  std::unique_ptr<rocksdb::Transaction> transaction(database->BeginTransaction({}));
  ASSERT_TRUE(transaction->SetName("prepared").ok());
  ASSERT_TRUE(transaction->Put("key", "value").ok());
  ASSERT_TRUE(transaction->Prepare().ok());
  transaction.reset();
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    ASSERT_TRUE(database->DestroyColumnFamilyHandle(handle).ok());
  }
  ASSERT_TRUE(database->Close().ok());
  const std::string said = Failure(RequestFor("universal"), RunFailure::kInvalid);
  EXPECT_NE(said.find("prepared transactions"), std::string::npos) << said;
}

TEST_F(StoreCopyTest, RefusesAnOpenSource) {
  MakeSource();
  OpenStore store;
  store.Open(rocksdb::DBOptions(), source_, SourceFamilies());
  EXPECT_NE(Failure(RequestFor("universal"), RunFailure::kInvalid).find("is open"), std::string::npos);
}

TEST_F(StoreCopyTest, LeavesAForeignTargetAlone) {
  MakeSource();
  std::filesystem::create_directory(target_);
  std::ofstream(target_ + "/mine") << "text";
  EXPECT_NE(Failure(RequestFor("universal"), RunFailure::kInvalid).find("is not empty"), std::string::npos);
  EXPECT_EQ(FilesOf(target_).size(), 1u);
}

TEST_F(StoreCopyTest, GoesOnAfterAFullDisk) {
  MakeSource();
  const auto disk = std::make_shared<FailingFileSystem>(rocksdb::IOStatus::NoSpace("full"), "ROCKTUNE_TABLE");
  disk->fails = true;
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk);
  const std::string said = Failure(RequestFor("universal"), RunFailure::kOutOfDisk, env.get());
  EXPECT_NE(said.find("'default' cannot be written to"), std::string::npos) << said;
  EXPECT_NE(Failure(RequestFor("blobs"), RunFailure::kInvalid).find("another migration"), std::string::npos)
      << "with other options";
  EXPECT_TRUE(CopyStore(RequestFor("universal"), rocksdb::Env::Default(), kSilent).continued);
  ExpectSourceUntouched();
  ExpectEntries(target_);
}

TEST_F(StoreCopyTest, EstimatesTheSpaceFirst) {
  MakeSource();
  DeviceSpec device;
  device.capacity_bytes = 600 << 10;
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(ThrottledFileSystem::Create(rocksdb::FileSystem::Default(), device));
  const std::string said = Failure(RequestFor("universal"), RunFailure::kOutOfDisk, env.get());
  EXPECT_NE(said.find("MiB are needed"), std::string::npos) << said;
  EXPECT_EQ(FilesOf(target_).size(), 1u) << "only the marker";
}

class StoreCopyCrashTest : public StoreCopyTest {
 protected:
  // Copies in processes that are killed at ever later file operations, until one ends by itself.
  void KillUntilDone(const std::string& change) {
    const int step = KillCount() > 4 ? 1 : 16;
    for (int dies_at = 1; dies_at < 2000; dies_at += step) {
      // The process always "ends by itself": the kill is its own.
      RunAndKill({NewPath(""), change + "," + std::to_string(dies_at), false},
                 "StoreCopyChild.DISABLED_CopiesUntilItIsKilled", std::numeric_limits<uint64_t>::max());
      std::filesystem::remove(NewPath("") + ".acknowledged");
      if (std::filesystem::exists(target_ + "/CURRENT") &&
          !std::filesystem::exists(target_ + "/ROCKTUNE_MIGRATION")) {
        return;
      }
    }
    FAIL() << "the copy never ended";
  }
};

TEST_F(StoreCopyCrashTest, GoesOnAfterEachKill) {
  MakeSource();
  for (const Change& change : Changes()) {
    KillUntilDone(change.name);
    ExpectSourceUntouched();
    ExpectEntries(target_);
    std::filesystem::remove_all(target_);
  }
}

class StoreCopyChild : public StoreCopyTest {};

TEST_F(StoreCopyChild, DISABLED_CopiesUntilItIsKilled) {
  CrashCase of;
  if (!ReadCrashCase(&of)) {
    GTEST_SKIP() << "is started by StoreCopyCrashTest";
  }
  const std::size_t comma = of.variant.find(',');
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<DyingFileSystem>(std::stoi(of.variant.substr(comma + 1))));
  MigrationRequest request = RequestFor(of.variant.substr(0, comma));
  request.source = of.directory + "-source";
  request.target = of.directory + "-target";
  CopyStore(request, env.get(), kSilent);
}

}  // namespace
}  // namespace rocktune
