#include "rocktune/trace/text_trace.h"

#include "rocktune/trace/trace_fixture.h"

namespace rocktune {
namespace {

using TextTraceTest = TraceTest;

TEST_F(TextTraceTest, ReadsCsvByItsColumns) {
  TextTrace trace(Write("trace.csv",
                        "operation,key,time_us,value_bytes,comment\r\nput,k1,5,100,x\nget,k2,6,,\nscan,k3,7\n"
                        "fly,k4,8,,\nget,k5,later,,\nmerge,k6,9,7,\n"));
  const std::vector<TraceEvent> events = Events(&trace);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].kind, OperationKind::kPut);
  EXPECT_EQ(events[0].key, "k1");
  EXPECT_EQ(events[0].time_us, 5U);
  EXPECT_EQ(events[0].value_bytes, 100U);
  EXPECT_EQ(events[1].value_bytes, std::nullopt);
  EXPECT_EQ(events[2].kind, OperationKind::kScan);
  EXPECT_EQ(events[3].kind, OperationKind::kPut);
  EXPECT_EQ(trace.notes(), (TraceNotes{{"malformed lines left out", 1},
                                       {"lines whose operation rocktune does not know left out", 1},
                                       {"merges replayed as puts of their operands", 1}}));
}

TEST_F(TextTraceTest, ReadsCsvOfSpreadsheets) {
  TextTrace trace(Write("trace.csv",
                        "\xef\xbb\xbf\"time_us\",\"operation\",key,value_bytes\r\n5,put,\"a,b\",100\r\n"
                        "6,get,\"a,c\",\r\n\"7\",\"get\",\"say \"\"x\"\"\"\n8,get,a\"b,\n9,get,\"open\n"
                        "9,get,\"k\"x,\n"));
  const std::vector<TraceEvent> events = Events(&trace);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].key, "a,b");
  EXPECT_EQ(events[0].value_bytes, 100U);
  EXPECT_EQ(events[1].key, "a,c");
  EXPECT_EQ(events[2].key, "say \"x\"");
  EXPECT_EQ(events[2].time_us, 7U);
  EXPECT_EQ(events[3].key, "a\"b");
  EXPECT_EQ(trace.notes(), (TraceNotes{{"malformed lines left out", 2}}));
}

TEST_F(TextTraceTest, ReadsNumbersAndNamesAsProgramsPrintThem) {
  TextTrace trace(Write("trace.csv",
                        "time_us,operation,key,family,value_bytes\n5.0,PUT,a,0.0,100.0\n6.25,Get,b,,\n"
                        "7,get,c,meta,\n8,get,d,,x\n9.1.1,get,e,,\n9,touch,f,,\n10,READMODIFYWRITE,g,1,30\n"
                        "11,get,h,,\n"));
  const std::vector<TraceEvent> events = Events(&trace);
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].kind, OperationKind::kPut);
  EXPECT_EQ(events[0].value_bytes, 100U);
  EXPECT_EQ(events[1].time_us, 6U);
  EXPECT_EQ(events[2].kind, OperationKind::kGet);
  EXPECT_EQ(events[3].kind, OperationKind::kPut);
  EXPECT_EQ(events[3].key, "g");
  EXPECT_EQ(events[3].family_id, 1U);
  EXPECT_EQ(events[3].value_bytes, 30U);
  EXPECT_EQ(events[4].key, "h");
  EXPECT_EQ(trace.notes(), (TraceNotes{{"malformed lines left out", 2},
                                       {"lines whose operation rocktune does not know left out", 1},
                                       {"lines whose family is no number left out", 1},
                                       {"read-modify-writes replayed as gets and puts", 1}}));
}

TEST_F(TextTraceTest, ReadsTwittersCacheTraces) {
  TextTrace trace(Write("cluster52", "0,keyA,4,235,1,get,0\n1,keyB,4,0,1,get,0\n1,keyA,4,30,7,set,3600\n"));
  const std::vector<TraceEvent> events = Events(&trace);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].value_bytes, 235U);
  EXPECT_EQ(events[1].value_bytes, std::nullopt);
  EXPECT_EQ(events[1].time_us, 1'000'000U);
  EXPECT_EQ(events[2].kind, OperationKind::kPut);
  EXPECT_EQ(trace.resolution_us(), 1'000'000U);
  EXPECT_EQ(trace.notes(), (TraceNotes{{"times to live left out", 1}}));
}

TEST_F(TextTraceTest, ReadsTheTextOfTraceAnalyzer) {
  TextTrace trace(
      Write("text", "0x6B31 1 0 100 5\n0x6B32 0 3 0 6\n0x6B33 4 0 0 7\n0x6 1 0 0 8\n0x61 6 0 0 9\n"));
  const std::vector<TraceEvent> events = Events(&trace);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].key, "k1");
  EXPECT_EQ(events[0].kind, OperationKind::kPut);
  EXPECT_EQ(events[0].value_bytes, 100U);
  EXPECT_EQ(events[1].family_id, 3U);
  EXPECT_EQ(events[2].kind, OperationKind::kScan);
  EXPECT_EQ(trace.notes(), (TraceNotes{{"malformed lines left out", 1},
                                       {"range deletes whose end the text does not state left out", 1}}));
}

TEST_F(TextTraceTest, StopsAtBinaryDataAndSkipsOverlongLines) {
  const std::string header = "time_us,operation,key\n";
  const std::string overlong = "1,get," + std::string(100'000, 'k') + "\n";
  TextTrace trace(Write("mixed", header + overlong + "2,get,k\n" + std::string(50, '\0')));
  EXPECT_EQ(Events(&trace).size(), 1U);
  EXPECT_EQ(trace.notes(), (TraceNotes{{"malformed lines left out", 1},
                                       {"bytes behind the last line of text left out", 50}}));
}

TEST_F(TextTraceTest, RefusesWhatIsNoTrace) {
  EXPECT_THROW(TextTrace(Write("empty", "")), std::invalid_argument);
  EXPECT_THROW(TextTrace(Write("prose", "Once upon a time\n")), std::invalid_argument);
  EXPECT_THROW(TextTrace(Write("no-keys", "1 0 100 5\n")), std::invalid_argument);
  EXPECT_THROW(TextTrace(Write("no-column", "time_us,operation,name\n")), std::invalid_argument);
  EXPECT_THROW(TextTrace(Path("missing")), std::invalid_argument);
}

}  // namespace
}  // namespace rocktune
