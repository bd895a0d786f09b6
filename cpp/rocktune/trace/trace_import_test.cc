#include "rocktune/trace/trace_import.h"

#include <array>

#include "rocktune/trace/trace_fixture.h"

namespace rocktune {
namespace {

using TraceImportTest = TraceTest;

constexpr const char* kHeader = "time_us,operation,key,family,value_bytes,scan_length\n";

TEST_F(TraceImportTest, ReplacesKeysByTheirOrder) {
  Import(Write("trace", std::string(kHeader) + "10,put,m,0,7,\n12,get,a,0,,\n15,get,z,0,,\n15,get,m,2,,\n"));
  const std::vector<TraceOperation> expected = {
      {0, OperationKind::kPut, 0, 1, 7, 0},
      {2, OperationKind::kGet, 0, 0, 0, 0},
      {5, OperationKind::kGet, 0, 2, 0, 0},
      {5, OperationKind::kGet, 1, 0, 0, 0},
  };
  EXPECT_EQ(Imported(), expected);
}

TEST_F(TraceImportTest, SummarizesWhatWasRead) {
  const TraceSummary summary = Import(
      Write("trace", std::string(kHeader) + "0,put,b,0,10,\n1,get,b,0,20,\n2,get,a,0,,\n3,delete,c,0,,\n"));
  EXPECT_EQ(summary.operations, 4U);
  EXPECT_EQ(summary.span_us, 3U);
  ASSERT_EQ(summary.families.size(), 1U);
  const TraceFamily& family = summary.families.front();
  EXPECT_EQ(family.keys, 3U);
  EXPECT_EQ(family.used_keys, 3U);
  EXPECT_EQ(family.present_keys, 2U);  // a and c
  EXPECT_EQ(family.mean_value_bytes, 15U);
  EXPECT_EQ(family.max_value_bytes, 20U);
  const TraceFile file(Path("operations"));
  EXPECT_EQ(file.summary(), summary);
  EXPECT_EQ(file.PresentKeys(0), KeyBits{0b101});
}

TEST_F(TraceImportTest, SaysHowLongScansAreAssumedToBe) {
  const TraceSummary summary = Import(
      Write("trace", std::string(kHeader) + "0,scan,b,0,,40\n1,scan,a,0,,\n2,scan,a,0,,5000000\n"), 12);
  const std::vector<TraceOperation> operations = Imported();
  EXPECT_EQ(operations[0].scan_length, 40U);
  EXPECT_EQ(operations[1].scan_length, 12U);
  EXPECT_EQ(operations[2].scan_length, kMaxScanLength);
  EXPECT_EQ(summary.notes,
            (std::map<std::string, uint64_t>{{"scans of unknown length assumed to read 12 entries", 1},
                                             {"scans cut to 100,000 entries", 1}}));
}

TEST_F(TraceImportTest, KeepsTheOrderWhereTimesGoBack) {
  const TraceSummary summary =
      Import(Write("trace", std::string(kHeader) + "10,get,a\n20,get,b\n5,get,c\n30,get,d\n"));
  std::vector<uint64_t> times;
  for (const TraceOperation& operation : Imported()) {
    times.push_back(operation.time_us);
  }
  EXPECT_EQ(times, (std::vector<uint64_t>{0, 10, 10, 20}));
  EXPECT_EQ(summary.notes.begin()->second, 1U);
}

TEST_F(TraceImportTest, SpreadsTheOperationsOfASecond) {
  const TraceSummary summary =
      Import(Write("twitter", "7,a,1,5,0,get,0\n7,b,1,5,0,get,0\n9,c,1,5,0,get,0\n"));
  std::vector<uint64_t> times;
  for (const TraceOperation& operation : Imported()) {
    times.push_back(operation.time_us);
  }
  EXPECT_EQ(times, (std::vector<uint64_t>{0, 499'999, 2'000'000}));
  EXPECT_EQ(summary.span_us, 2'000'000U);
}

TEST_F(TraceImportTest, EndsOfDeletedRangesAreNoKeys) {
  const TraceSummary summary =
      Import(Write("trace",
                   "time_us,operation,key,family,end_key\n"
                   "0,put,b,0,\n1,put,d,0,\n2,delete_range,a,0,c\n3,range_delete,d,0,z\n"
                   "4,delete_range,bb,0,cc\n5,delete_range,x,0,y\n6,delete_range,d,0,b\n"
                   "7,delete_range,b,0,\n8,delete_range,a,7,z\n"));
  std::vector<std::array<uint64_t, 2>> ranges;
  for (const TraceOperation& operation : Imported()) {
    if (operation.kind == OperationKind::kDeleteRange) {
      ranges.push_back({operation.key, operation.range_keys});
    }
  }
  EXPECT_EQ(ranges, (std::vector<std::array<uint64_t, 2>>{{0, 1}, {1, 1}, {1, 0}, {2, 0}}));
  EXPECT_EQ(summary.range_keys, 2U);
  ASSERT_EQ(summary.families.size(), 1U);
  const TraceFamily& family = summary.families.front();
  EXPECT_EQ(family.keys, 2U);
  EXPECT_EQ(family.used_keys, 2U);
  EXPECT_EQ(family.present_keys, 0U);
  EXPECT_EQ(family.mean_key_bytes, 1U);
  EXPECT_EQ(family.operations[static_cast<std::size_t>(OperationKind::kDeleteRange)], 4U);
  EXPECT_EQ(summary.notes,
            (std::map<std::string, uint64_t>{
                {"puts of unknown size assumed to have 1,024 bytes", 2},
                {"range deletes without a key of the trace, replayed as range tombstones over no key", 2},
                {"range deletes in column families without keys left out", 1},
                {kEmptyRangeNote, 1},
                {"range deletes whose end the text does not state left out", 1}}));
  EXPECT_EQ(TraceFile(Path("operations")).summary(), summary);
}

TEST_F(TraceImportTest, RefusesATraceOfRangeDeletesAlone) {
  EXPECT_THROW(Import(Write("trace", "time_us,operation,key,end_key\n0,delete_range,a,b\n")),
               std::invalid_argument);
}

TEST_F(TraceImportTest, RefusesATraceWithoutOperationsAndLeavesNoFiles) {
  EXPECT_THROW(Import(Write("trace", std::string(kHeader) + "x,get,a\n")), std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(Path("operations")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(Path("")), {}), 1);
}

}  // namespace
}  // namespace rocktune
