#include "rocktune/trace/trace_import.h"

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

TEST_F(TraceImportTest, RefusesATraceWithoutOperationsAndLeavesNoFiles) {
  EXPECT_THROW(Import(Write("trace", std::string(kHeader) + "x,get,a\n")), std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(Path("operations")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(Path("")), {}), 1);
}

}  // namespace
}  // namespace rocktune
