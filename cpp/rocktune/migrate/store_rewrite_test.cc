// A closed database gets other options in its own directory and keeps its entries.

#include "rocktune/migrate/store_rewrite.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <functional>
#include <limits>
#include <memory>

#include "rocktune/migrate/migration_fixture.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/util/fake_dying_process.h"

namespace rocktune {
namespace {

class StoreRewriteTest : public MigrationTest {
 protected:
  MigrationRequest RequestFor(const std::function<void(rocksdb::ColumnFamilyOptions*)>& change) const {
    Families wanted = SourceFamilies();
    for (rocksdb::ColumnFamilyDescriptor& family : wanted) {
      change(&family.options);
    }
    MigrationRequest request = MigrationTest::RequestFor(wanted);
    request.target.clear();
    return request;
  }
  // Returns the request for fewer levels of all families.
  MigrationRequest FewerLevels() const {
    return RequestFor([](auto* options) { options->num_levels = 2; });
  }
};

TEST_F(StoreRewriteTest, EntriesStayInAnotherShape) {
  MakeSource();
  const std::vector<FamilyDigest> digests = RewriteStore(FewerLevels(), rocksdb::Env::Default(), kSilent);
  ASSERT_EQ(digests.size(), 3u);
  EXPECT_EQ(digests[1].entries, expected_.at("reverse").size());
  for (const rocksdb::ColumnFamilyDescriptor& family : ExpectEntries(source_)) {
    EXPECT_EQ(family.options.num_levels, 2) << family.name;
  }
}

TEST_F(StoreRewriteTest, OneLevelTakesOneTable) {
  MakeSource();
  RewriteStore(RequestFor([](auto* options) {
                 options->compaction_style = rocksdb::kCompactionStyleUniversal;
                 options->num_levels = 1;
               }),
               rocksdb::Env::Default(), kSilent);
  ExpectEntries(source_);
}

TEST_F(StoreRewriteTest, OnlyTheNamedFamiliesAreRewritten) {
  MakeSource();
  MigrationRequest request = RequestFor([](auto* options) {
    options->enable_blob_files = true;
    options->min_blob_size = 100;
  });
  request.rewritten = {"reverse"};
  RewriteStore(request, rocksdb::Env::Default(), kSilent);
  const Families families = ExpectEntries(source_);
  OpenStore store;
  store.OpenReadOnly(rocksdb::DBOptions(), source_, families);
  std::map<std::string, uint64_t> table_bytes;
  for (std::size_t index = 0; index < families.size(); ++index) {
    rocksdb::ColumnFamilyMetaData metadata;
    store.db()->GetColumnFamilyMetaData(store.family(index), &metadata);
    table_bytes[families[index].name] = metadata.size;
  }
  EXPECT_LT(table_bytes["reverse"] * 2, table_bytes["default"]) << "its values are in blob files";
}

TEST_F(StoreRewriteTest, AnotherOrderIsRefusedUnchanged) {
  MakeSource();
  MigrationRequest request =
      RequestFor([](auto* options) { options->comparator = rocksdb::ReverseBytewiseComparator(); });
  try {
    RewriteStore(request, rocksdb::Env::Default(), kSilent);
    FAIL() << "it was not refused";
  } catch (const RunError& error) {
    EXPECT_EQ(error.failure(), RunFailure::kInvalid);
    EXPECT_NE(std::string(error.what()).find("'default': another comparator"), std::string::npos);
  }
  ExpectSourceUntouched();
}

class StoreRewriteCrashTest : public StoreRewriteTest {};

TEST_F(StoreRewriteCrashTest, HasAllEntriesAfterEachKill) {
  MakeSource();
  const int step = KillCount() > 4 ? 2 : 16;
  for (int dies_at = 1; dies_at < 2000; dies_at += step) {
    // The process always "ends by itself": the kill is its own.
    RunAndKill({NewPath(""), std::to_string(dies_at), false},
               "StoreRewriteChild.DISABLED_RewritesUntilItIsKilled", std::numeric_limits<uint64_t>::max());
    std::filesystem::remove(NewPath("") + ".acknowledged");
    if (ExpectEntries(source_).front().options.num_levels == 2) {
      return;
    }
  }
  FAIL() << "the database never got its new options";
}

class StoreRewriteChild : public StoreRewriteTest {};

TEST_F(StoreRewriteChild, DISABLED_RewritesUntilItIsKilled) {
  CrashCase of;
  if (!ReadCrashCase(&of)) {
    GTEST_SKIP() << "is started by StoreRewriteCrashTest";
  }
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<DyingFileSystem>(std::stoi(of.variant)));
  MigrationRequest request = FewerLevels();
  request.source = of.directory + "-source";
  RewriteStore(request, env.get(), kSilent);
}

}  // namespace
}  // namespace rocktune
