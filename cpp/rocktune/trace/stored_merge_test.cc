#include "rocktune/trace/stored_merge.h"

#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <array>
#include <set>

#include "rocktune/trace/trace_fixture.h"
#include "rocktune/trace/trace_sample.h"
#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/workload/trace_preload.h"
#include "rocktune/workload/trace_replay.h"

namespace rocktune {
namespace {

constexpr uint64_t kKeys = 4000;  // of the trace and the database together

std::string KeyOf(uint64_t number) {
  std::string digits = std::to_string(number);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}

// A database with every key but each fifth, and a trace that reads or writes every second one.
class StoredMergeTest : public TraceTest {
 protected:
  static uint64_t BytesOf(uint64_t key) { return 10 + key % 90; }
  static bool IsStored(uint64_t key) { return key % 5 != 0; }

  void WriteDatabase(const rocksdb::Options& given = {}) {
    rocksdb::Options options = given;
    options.create_if_missing = true;
    std::unique_ptr<rocksdb::DB> database;
    ASSERT_TRUE(OpenDatabase(options, Path("db"), &database).ok());
    for (uint64_t key = 0; key < kKeys; ++key) {
      if (IsStored(key)) {
        ASSERT_TRUE(database->Put({}, KeyOf(key), std::string(BytesOf(key), 'v')).ok());
      }
      if (key == kKeys / 2) {
        ASSERT_TRUE(database->Flush({}).ok());
      }
    }
    ASSERT_TRUE(database->Delete({}, KeyOf(1)).ok());  // the rest is in the write-ahead log
    ASSERT_TRUE(database->Put({}, KeyOf(1), std::string(BytesOf(1), 'v')).ok());
  }

  std::string WriteTrace() {
    std::string text = "time_us,operation,key,value_bytes\n";
    for (uint64_t i = 0; i < 2 * kKeys; ++i) {
      const uint64_t key = i * 2 % kKeys;
      text += std::to_string(i) + (i % 8 < 4 ? ",get," : ",put,") + KeyOf(key) + ",50\n";
    }
    return Write("trace.csv", text);
  }

  TraceSummary ImportWithDatabase(const std::string& trace) const {
    return ImportTrace({trace, Path("operations"), 100, Path("db")}, [](const char*, double, double) {});
  }

  // Returns the names, sizes and times of a directory's files.
  std::set<std::string> State(const std::string& name) const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(Path(name))) {
      found.insert(entry.path().filename().string() + " " + std::to_string(entry.file_size()) + " " +
                   std::to_string(entry.last_write_time().time_since_epoch().count()));
    }
    return found;
  }

  // Returns the message of the failure of an import.
  std::string Failure(const std::string& trace) const {
    try {
      ImportWithDatabase(trace);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(StoredMergeTest, CountsTheDatabasesKeysInDeletedRanges) {
  WriteDatabase();
  const std::string trace =
      Write("trace.csv",
            "time_us,operation,key,end_key\n0,get,key000011,\n1,delete_range,key000011x,key000020\n"
            "2,delete_range,key003990,z\n3,delete_range,a,b\n4,put,key000015,\n");
  const TraceSummary summary = ImportWithDatabase(trace);
  std::vector<std::array<uint64_t, 2>> ranges;
  for (const TraceOperation& operation : Imported()) {
    if (operation.kind == OperationKind::kDeleteRange) {
      ranges.push_back({operation.key, operation.range_keys});
    }
  }
  // Each fifth key is missing, and the trace adds key 15: nine keys up to 11, and 12 to 19.
  EXPECT_EQ(ranges, (std::vector<std::array<uint64_t, 2>>{{9, 8}, {3193, 8}, {0, 0}}));
  EXPECT_EQ(summary.range_keys, 16U);
  EXPECT_EQ(summary.families.front().keys, kKeys / 5 * 4 + 1);
  EXPECT_EQ(summary.notes.at("range deletes without a key of the trace or the database, replayed as range "
                             "tombstones over no key"),
            1U);
}

TEST_F(StoredMergeTest, RanksTouchedAndUntouchedKeysTogether) {
  WriteDatabase();
  const std::set<std::string> before = State("db");
  const TraceSummary summary = ImportWithDatabase(WriteTrace());
  EXPECT_EQ(State("db"), before);
  const TraceFamily& family = summary.families.front();
  ASSERT_TRUE(family.stored);
  // Keys that are neither stored nor in the trace, such as 5 and 15, have no rank.
  EXPECT_EQ(family.keys, kKeys * 9 / 10);
  EXPECT_EQ(family.stored->keys, kKeys * 8 / 10);
  EXPECT_EQ(family.present_keys, kKeys * 8 / 10);
  EXPECT_EQ(family.stored->untouched_keys, kKeys * 4 / 10);
  EXPECT_EQ(family.stored->mean_key_bytes, 9U);
  EXPECT_EQ(summary.notes.at("keys of the trace that the database lacks, missing until the trace puts them"),
            kKeys / 10);
  const TraceFile file(Path("operations"));
  const KeyBits present = file.PresentKeys(0);
  const std::vector<uint32_t> sizes = file.StoredSizes(0, 0, family.keys);
  uint64_t rank = 0, value_bytes = 0;
  std::map<uint64_t, uint64_t> rank_of;
  for (uint64_t key = 0; key < kKeys; ++key) {
    if (!IsStored(key) && key % 2 != 0) {
      continue;
    }
    rank_of[key] = rank;
    ASSERT_EQ(HasBit(present, rank), IsStored(key)) << key;
    ASSERT_EQ(sizes[rank], IsStored(key) ? BytesOf(key) : kNotStored) << key;
    value_bytes += IsStored(key) ? BytesOf(key) : 0;
    ++rank;
  }
  EXPECT_EQ(family.stored->value_bytes, value_bytes);
  EXPECT_EQ(Imported()[3].key, rank_of[6]);
  EXPECT_EQ(file.StoredSizes(0, 100, 2), (std::vector<uint32_t>{sizes[100], sizes[101]}));
}

TEST_F(StoredMergeTest, SamplesBothByTheSameHash) {
  WriteDatabase();
  const TraceSummary whole = ImportWithDatabase(WriteTrace());
  const TraceSummary sample = SampleTrace(Path("operations"), 4);
  const TraceFamily& family = sample.families.front();
  ASSERT_TRUE(family.stored);
  const auto near = [](uint64_t part, uint64_t of) {
    EXPECT_NEAR(static_cast<double>(part) * 4, static_cast<double>(of), static_cast<double>(of) * 0.15);
  };
  const StoredEntries& stored = *whole.families.front().stored;
  near(family.stored->keys, stored.keys);
  near(family.stored->untouched_keys, stored.untouched_keys);
  near(family.stored->value_bytes, stored.value_bytes);
  const TraceFile file(SamplePath(Path("operations"), 4));
  const std::vector<uint32_t> sizes = file.StoredSizes(0, 0, family.keys);
  const auto present = static_cast<uint64_t>(
      std::count_if(sizes.begin(), sizes.end(), [](uint32_t bytes) { return bytes != kNotStored; }));
  EXPECT_EQ(present, family.present_keys);

  WorkloadSpec spec;
  spec.families.resize(1);
  spec.sessions.resize(1);
  spec.sessions.front().loads.resize(1);
  spec.trace.path = Path("operations");
  spec.trace.scale = 4;
  ResolveTrace(&spec);
  EXPECT_EQ(spec.families.front().preload.keys, family.stored->keys);
  EXPECT_EQ(StoredSizes(spec).front(), sizes);
  EXPECT_EQ(PresentKeys(spec).front(), file.PresentKeys(0));
}

TEST_F(StoredMergeTest, NamesWhatCannotBeCarried) {
  WriteDatabase();
  rocksdb::Options options;
  ASSERT_TRUE(rocksdb::MergeOperator::CreateFromString({}, "stringappend", &options.merge_operator).ok());
  std::unique_ptr<rocksdb::DB> database;
  ASSERT_TRUE(OpenDatabase(options, Path("db"), &database).ok());
  ASSERT_TRUE(database
                  ->PutEntity({}, database->DefaultColumnFamily(), KeyOf(2),
                              {{"", "abc"}, {"first", "12345"}, {"second", "67890"}})
                  .ok());
  ASSERT_TRUE(database->Merge({}, KeyOf(3), "an operand that is longer than the value").ok());
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(database->CreateColumnFamily({}, "other", &other).ok());
  ASSERT_TRUE(database->Put({}, other, "a", "b").ok());
  ASSERT_TRUE(database->DestroyColumnFamilyHandle(other).ok());
  database.reset();
  const TraceSummary summary = ImportWithDatabase(WriteTrace());
  EXPECT_EQ(summary.notes.at("stored entities with wide columns, preloaded as one value of the same size"),
            1U);
  EXPECT_EQ(summary.notes.at("keys of column families that the trace does not name left out"), 1U);
  EXPECT_EQ(
      summary.notes.at("stored values with merge operands, preloaded with the size of the largest part"), 1U);
  const TraceFile file(Path("operations"));
  EXPECT_EQ(file.StoredSizes(0, 2, 2), (std::vector<uint32_t>{3 + 10 + 11, 40}));
}

TEST_F(StoredMergeTest, RefusesOtherDatabases) {
  const std::string trace = WriteTrace();
  EXPECT_EQ(Failure(trace), Path("db") + ": holds no RocksDB database: it has no file CURRENT");
  rocksdb::Options reversed;
  reversed.comparator = rocksdb::ReverseBytewiseComparator();
  WriteDatabase(reversed);
  EXPECT_NE(Failure(trace).find("only keys in RocksDB's bytewise order can be preloaded"), std::string::npos);
  std::filesystem::remove_all(Path("db"));
  WriteDatabase();
  const std::string unrelated = Write("other.csv", "time_us,operation,key,value_bytes\n0,get,x,10\n");
  EXPECT_NE(Failure(unrelated).find("has not one of the trace's keys"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(Path("operations")));
}

}  // namespace
}  // namespace rocktune
