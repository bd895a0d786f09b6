// Column families of an FLSM store: each has a tree of its own, which lives, is copied and dies with it.

#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_families.h"

namespace rocktune {
namespace {

// Not a copy of kDefaultColumnFamilyName, which a RocksDB that is linked statically may initialise later.
constexpr const char* kDefault = "default";

TEST_F(FlsmFamiliesTest, EachFamilyIsATreeThatSurvivesReopening) {
  MakeStore(2000);
  ExpectFilled(2000);
  ExpectPolicies();
  EXPECT_GE(store_->Shape(handles_[1]).LevelsInUse(), 2);
  store_.reset();
  ASSERT_TRUE(OpenFamilies(AsTheyAre(), directory_).ok());
  ExpectFilled(2000);
  ExpectPolicies();
  FlsmShape shape;
  ASSERT_TRUE(ReadShape(directory_, "events", &shape).ok());
  EXPECT_EQ(ToText(shape), ToText(store_->Shape(handles_[1])));
  EXPECT_FALSE(ReadShape(directory_, "nobody", &shape).ok());
}

TEST_F(FlsmFamiliesTest, OpensOnlyWithAllFamilies) {
  MakeStore(10);
  store_.reset();
  rocksdb::Status status = Open(FlsmOptions());
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("'events'"), std::string::npos) << status.ToString();
  std::vector<FlsmFamily> families = AsTheyAre();
  families.push_back({"events", SmallOptions(), {}});
  EXPECT_TRUE(OpenFamilies(families, directory_).IsInvalidArgument()) << "twice";
  families = AsTheyAre();
  families.erase(families.begin());
  EXPECT_TRUE(OpenFamilies(families, directory_).IsInvalidArgument()) << "without the default one";
  families = AsTheyAre();
  families.push_back({"more", SmallOptions(), {}});
  EXPECT_TRUE(FlsmStore::Open(SmallOptions(), directory_, families, &handles_, &store_).IsInvalidArgument());
  families = AsTheyAre();
  families[1].layout.size_ratio = 9;
  EXPECT_TRUE(OpenFamilies(families, directory_).IsInvalidArgument()) << "another size ratio";
  ASSERT_TRUE(OpenFamilies(AsTheyAre(), directory_).ok());
}

TEST_F(FlsmFamiliesTest, CreatesAndDropsFamiliesWhileItServes) {
  ASSERT_TRUE(Open(Layout({2})).ok());
  for (int round = 0; round < 3; ++round) {
    rocksdb::ColumnFamilyHandle* made = nullptr;
    const FlsmOptions layout = Layout({1 + round});
    ASSERT_TRUE(store_->CreateColumnFamily(SmallOptions(), "made", layout, &made).ok());
    rocksdb::ColumnFamilyHandle* again = nullptr;
    EXPECT_TRUE(store_->CreateColumnFamily(SmallOptions(), "made", layout, &again).IsInvalidArgument());
    EXPECT_EQ(again, nullptr);
    EXPECT_EQ(store_->Shape(made).level(1).policy, 1 + round) << "no shape of its predecessor";
    handles_ = {store_->DefaultColumnFamily(), made};
    Fill(600);  // leaves flushes and compactions behind
    const rocksdb::Snapshot* snapshot = store_->GetSnapshot();
    ASSERT_TRUE(store_->DropColumnFamily(made).ok());
    std::string value;
    EXPECT_TRUE(store_->Get(rocksdb::ReadOptions(), made, "key1", &value).ok()) << "until its handle goes";
    EXPECT_TRUE(store_->SetPolicy(made, 1, 1, FlsmTransition::kFlexible).IsColumnFamilyDropped());
    store_->ReleaseSnapshot(snapshot);
    ASSERT_TRUE(store_->DestroyColumnFamilyHandle(made).ok());
  }
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  EXPECT_FALSE(store_->DropColumnFamily(store_->DefaultColumnFamily()).ok());
  store_.reset();
  ASSERT_TRUE(Open(FlsmOptions()).ok()) << "with the default family alone";
  ExpectShapeMatchesRocksDb();
}

TEST_F(FlsmFamiliesTest, ALiveFamilyCompactsWithoutItsCallersHandle) {
  OpenThree();
  Fill(1000);
  ASSERT_TRUE(store_->DestroyColumnFamilyHandle(handles_[1]).ok());
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions(), {handles_[0], handles_[2]}).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  ASSERT_TRUE(store_->Close().ok());
  EXPECT_TRUE(store_->DestroyColumnFamilyHandle(handles_[2]).ok()) << "Close has released it";
  ASSERT_TRUE(OpenFamilies(AsTheyAre(), directory_).ok());
  ExpectFilled(1000);
}

TEST_F(FlsmFamiliesTest, ASnapshotPreventsClosing) {
  OpenThree();
  Fill(100);
  const rocksdb::Snapshot* snapshot = store_->GetSnapshot();
  EXPECT_TRUE(store_->Close().IsAborted());
  Fill(1000);
  Settle();
  ExpectFilled(1000);
  store_->ReleaseSnapshot(snapshot);
  const std::string shape = ToText(store_->Shape());
  EXPECT_TRUE(store_->Close().ok());
  EXPECT_EQ(ToText(store_->Shape()), shape);
}

// The names are hostile to the file that holds the shapes.
TEST_F(FlsmFamiliesTest, FamiliesMayHaveAnyName) {
  std::vector<FlsmFamily> families = {{kDefault, SmallOptions(), Layout({1})}};
  int policy = 0;
  for (const std::string& name : {std::string("%41"), std::string("a\0\xff\"\\", 5), std::string("A")}) {
    families.push_back({name, SmallOptions(), Layout({1 + policy++})});
  }
  ASSERT_TRUE(OpenFamilies(families, directory_).ok());
  store_.reset();
  ASSERT_TRUE(OpenFamilies(families, directory_).ok());
  for (int family = 1; family < 4; ++family) {
    EXPECT_EQ(store_->Shape(handles_[static_cast<std::size_t>(family)]).level(1).policy, family);
  }
}

TEST_F(FlsmFamiliesTest, AStoreOfOneFamilyKeepsItsFormat) {
  ASSERT_TRUE(Open(Layout({3})).ok());
  const auto text = [this] {
    std::ifstream file(directory_ + "/FLSM");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = text();
  EXPECT_NE(before.find("\"format\":1"), std::string::npos) << before;
  rocksdb::ColumnFamilyHandle* made = nullptr;
  ASSERT_TRUE(store_->CreateColumnFamily(SmallOptions(), "made", &made).ok());
  EXPECT_EQ(store_->Shape(made).size_ratio, 10) << "FlsmOptions()";
  EXPECT_NE(text().find("\"format\":2"), std::string::npos) << text();
  ASSERT_TRUE(store_->DropColumnFamily(made).ok());
  EXPECT_EQ(text(), before) << "older versions read it again";
}

TEST_F(FlsmFamiliesTest, IgnoresTheShapeOfAFamilyThatIsNotThere) {
  MakeStore(10);
  std::filesystem::copy_file(directory_ + "/FLSM", directory_ + "/FLSM.before");
  ASSERT_TRUE(store_->DropColumnFamily(handles_[1]).ok());
  store_.reset();
  // The state after a crash between the two steps of CreateColumnFamily, or of DropColumnFamily.
  std::filesystem::rename(directory_ + "/FLSM.before", directory_ + "/FLSM");
  std::vector<FlsmFamily> families = AsTheyAre();
  families.erase(families.begin() + 1);
  ASSERT_TRUE(OpenFamilies(families, directory_).ok());
  rocksdb::ColumnFamilyHandle* events = nullptr;
  ASSERT_TRUE(store_->CreateColumnFamily(SmallOptions(), "events", Layout({2}), &events).ok());
  EXPECT_EQ(store_->Shape(events).size_ratio, 4);
}

TEST_F(FlsmFamiliesTest, IngestsIntoAFamily) {
  MakeStore(500);
  const std::string table = directory_ + "-more.sst";
  rocksdb::SstFileWriter writer((rocksdb::EnvOptions()), SmallOptions());
  ASSERT_TRUE(writer.Open(table).ok());
  ASSERT_TRUE(writer.Put("more", "ingested").ok());
  ASSERT_TRUE(writer.Finish().ok());
  rocksdb::IngestExternalFileArg to;
  to.column_family = handles_[1];
  to.external_files = {table};
  ASSERT_TRUE(store_->IngestExternalFiles({to}).ok());
  std::string value;
  ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), handles_[1], "more", &value).ok());
  EXPECT_TRUE(store_->Get(rocksdb::ReadOptions(), handles_[0], "more", &value).IsNotFound());
  ExpectFilled(500);
}

TEST_F(FlsmFamiliesTest, CountsEachFamilyForItself) {
  std::vector<FlsmFamily> families = Three();
  for (FlsmFamily& family : families) {
    family.layout.sample_every = 1;
  }
  ASSERT_TRUE(OpenFamilies(families, directory_).ok());
  Fill(300);
  ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), handles_[1], "more", "value").ok());
  const std::vector<rocksdb::ColumnFamilyHandle*> asked = {handles_[1], handles_[1], handles_[2]};
  const std::vector<rocksdb::Slice> keys = {"key1", "nowhere", "key2"};
  std::vector<std::string> values;
  store_->MultiGet(rocksdb::ReadOptions(), asked, keys, &values);
  std::vector<rocksdb::Iterator*> iterators;
  ASSERT_TRUE(store_->NewIterators(rocksdb::ReadOptions(), {handles_[0], handles_[2]}, &iterators).ok());
  for (const rocksdb::Iterator* iterator : iterators) {
    delete iterator;
  }
  const FlsmStatistics first = store_->Statistics();
  const FlsmStatistics second = store_->Statistics(handles_[1]);
  const FlsmStatistics third = store_->Statistics(handles_[2]);
  EXPECT_EQ(first.entries_written, 300u);
  EXPECT_EQ(second.entries_written, 301u);
  EXPECT_EQ(third.entries_written, 300u);
  EXPECT_EQ(first.lookups, 0u);
  EXPECT_EQ(second.lookups, 2u);
  EXPECT_EQ(second.found, 1u);
  EXPECT_EQ(third.lookups, 1u);
  EXPECT_EQ(third.found, 1u);
  EXPECT_EQ(first.iterators, 1u);
  EXPECT_EQ(second.iterators, 0u);
  EXPECT_EQ(third.iterators, 1u);
  EXPECT_GT(first.busy_ns, 0u);
  EXPECT_GT(second.busy_ns, 0u);
}

TEST_F(FlsmFamiliesTest, OptionsAndPropertiesAreAFamilys) {
  MakeStore(100);
  EXPECT_TRUE(store_->SetOptions(handles_[1], {{"level0_slowdown_writes_trigger", "6"}}).ok());
  EXPECT_EQ(store_->Shape(handles_[1]).max_level0_files, 3u);
  EXPECT_EQ(store_->Shape(handles_[2]).max_level0_files, 10u);
  EXPECT_TRUE(store_->SetOptions(handles_[1], {{"disable_auto_compactions", "true"}}).IsNotSupported());
  uint64_t pending = 1;
  EXPECT_TRUE(store_->GetIntProperty(handles_[2], rocksdb::DB::Properties::kCompactionPending, &pending));
  EXPECT_EQ(pending, 0u);
  EXPECT_TRUE(store_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCompactionPending, &pending));
  EXPECT_EQ(pending, 0u);
}

}  // namespace
}  // namespace rocktune
