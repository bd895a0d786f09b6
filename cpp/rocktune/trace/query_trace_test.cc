#include "rocktune/trace/query_trace.h"

#include <rocksdb/write_batch.h>

#include <sstream>

#include "rocktune/trace/trace_fixture.h"

namespace rocktune {
namespace {

class QueryTraceTest : public TraceTest {
 protected:
  static std::string Content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
};

TEST_F(QueryTraceTest, ReadsWhatRocksDbRecorded) {
  const std::string path = Record([](rocksdb::DB* database) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(database->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "second", &family).ok());
    std::string value;
    ASSERT_TRUE(database->Put(rocksdb::WriteOptions(), "a", "12345").ok());
    ASSERT_TRUE(database->Put(rocksdb::WriteOptions(), family, "b", "123").ok());
    ASSERT_TRUE(database->Get(rocksdb::ReadOptions(), "a", &value).ok());
    ASSERT_TRUE(database->Delete(rocksdb::WriteOptions(), "a").ok());
    const rocksdb::Slice bound("d");
    rocksdb::ReadOptions bounded;
    bounded.iterate_upper_bound = &bound;
    std::unique_ptr<rocksdb::Iterator>(database->NewIterator(bounded))->Seek("b");
    std::unique_ptr<rocksdb::Iterator>(database->NewIterator(rocksdb::ReadOptions()))->SeekForPrev("c");
    rocksdb::WriteBatch batch;
    ASSERT_TRUE(batch.Put("e", "1").ok());
    ASSERT_TRUE(batch.Put(family, "f", "22").ok());
    ASSERT_TRUE(batch.DeleteRange("a", "bb").ok());
    ASSERT_TRUE(batch.DeleteRange("c", "c").ok());
    ASSERT_TRUE(database->Write(rocksdb::WriteOptions(), &batch).ok());
    std::vector<std::string> values;
    database->MultiGet(rocksdb::ReadOptions(), {"e", "absent"}, &values);
    ASSERT_TRUE(database->DestroyColumnFamilyHandle(family).ok());
  });
  QueryTrace trace(path);
  std::ostringstream found;
  for (const TraceEvent& event : Events(&trace)) {
    found << kOperationKindNames[static_cast<std::size_t>(event.kind)] << " " << event.family_id << " "
          << event.key << (event.bound.empty() ? "" : "-" + event.bound) << " "
          << event.value_bytes.value_or(0) << "\n";
  }
  EXPECT_EQ(found.str(),
            "put 0 a 5\nput 1 b 3\nget 0 a 0\ndelete 0 a 0\nscan 0 b-d 0\nscan 0 c 0\nput 0 e 1\nput 1 f 2\n"
            "delete_range 0 a-bb 0\nget 0 e 0\nget 0 absent 0\n");
  EXPECT_EQ(trace.notes(), (TraceNotes{{"seeks backwards replayed as scans forwards", 1},
                                       {"write batches replayed as single operations", 1},
                                       {kEmptyRangeNote, 1},
                                       {"multi-gets replayed as single gets", 1}}));
}

TEST_F(QueryTraceTest, AScanBackwardsEndsAtItsLowerBound) {
  const std::string path = Record([](rocksdb::DB* database) {
    for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
      ASSERT_TRUE(database->Put(rocksdb::WriteOptions(), key, "1").ok());
    }
    const rocksdb::Slice lower("b");
    const rocksdb::Slice upper("f");
    rocksdb::ReadOptions both;
    both.iterate_lower_bound = &lower;
    both.iterate_upper_bound = &upper;
    std::unique_ptr<rocksdb::Iterator>(database->NewIterator(both))->SeekForPrev("d");
    std::unique_ptr<rocksdb::Iterator>(database->NewIterator(both))->Seek("c");
    rocksdb::ReadOptions above;
    above.iterate_upper_bound = &upper;
    std::unique_ptr<rocksdb::Iterator>(database->NewIterator(above))->SeekForPrev("d");
  });
  Import(path, 100);
  std::vector<uint32_t> lengths;
  for (const TraceOperation& operation : Imported()) {
    if (operation.kind == OperationKind::kScan) {
      lengths.push_back(operation.scan_length);
    }
  }
  // b, c and d; c, d and e; unknown.
  EXPECT_EQ(lengths, (std::vector<uint32_t>{3, 3, 100}));
}

TEST_F(QueryTraceTest, ReadsACutTraceUpToTheCut) {
  const std::string path = Record([](rocksdb::DB* database) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(database->Put(rocksdb::WriteOptions(), "key", "value").ok());
    }
  });
  const std::string content = Content(path);
  QueryTrace cut(Write("cut", content.substr(0, content.size() - 20)));
  EXPECT_EQ(Events(&cut).size(), 2U);
  EXPECT_EQ(cut.notes().count("the trace was cut: it lacks its end record"), 1U);
  cut.Restart();
  EXPECT_EQ(Events(&cut).size(), 2U);
}

TEST_F(QueryTraceTest, StopsAtADamagedRecordAndNamesTheBytesLeftOut) {
  const std::string path = Record([](rocksdb::DB* database) {
    ASSERT_TRUE(database->Put(rocksdb::WriteOptions(), "key", "value").ok());
  });
  std::string content = Content(path);
  constexpr std::size_t kEndRecordBytes = 13;
  content.resize(content.size() - kEndRecordBytes);
  QueryTrace damaged(Write("damaged", content + std::string(1000, '\0')));
  EXPECT_EQ(Events(&damaged).size(), 1U);
  EXPECT_EQ(damaged.notes(),
            (TraceNotes{{"the trace is damaged: it was read up to the first damaged record", 1},
                        {"bytes behind the last record left out", 1000 - kEndRecordBytes}}));
}

TEST_F(QueryTraceTest, LeavesARecordOutWhosePayloadIsMalformed) {
  const std::string path = Record([](rocksdb::DB* database) {
    std::string value;
    database->Get(rocksdb::ReadOptions(), "wrong", &value).PermitUncheckedError();
    database->Get(rocksdb::ReadOptions(), "right", &value).PermitUncheckedError();
  });
  std::string content = Content(path);
  content[content.find("wrong") - 1] = '\x7f';  // the key's length
  QueryTrace trace(Write("malformed", content));
  const std::vector<TraceEvent> events = Events(&trace);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events.front().key, "right");
  EXPECT_EQ(trace.notes(), (TraceNotes{{"malformed records left out", 1}}));
}

TEST_F(QueryTraceTest, RefusesATraceOfBlocksAndAnOlderVersion) {
  const std::string path = Record([](rocksdb::DB*) {});
  std::string content = Content(path);
  const std::size_t version = content.find("Trace Version: 0.2");
  std::string older = content;
  older.replace(version, 18, "Trace Version: 0.1");
  EXPECT_THROW(QueryTrace(Write("older", older)), std::invalid_argument);
  content.insert(content.find("feedcafe"), 1, '\x10');  // a length, as a trace of blocks has
  EXPECT_THROW(QueryTrace(Write("blocks", content)), std::invalid_argument);
}

}  // namespace
}  // namespace rocktune
