#include "rocktune/workload/trace_replay.h"

#include <array>
#include <nlohmann/json.hpp>

#include "rocktune/trace/trace_fixture.h"

namespace rocktune {
namespace {

class TraceReplayTest : public TraceTest {
 protected:
  void SetUp() override {
    Import(Write("trace.csv",
                 "time_us,operation,key,value_bytes\n0,put,b,10\n10,get,b,\n20,put,b,12\n30,get,a,\n"));
  }

  WorkloadSpec Spec(const nlohmann::json& arrival) const {
    return WorkloadSpecFromJson(
        {{"keys", 2},
         {"preload", {{"keys", 1}}},
         {"trace", {{"path", Path("operations")}}},
         {"sessions", {{{"arrival", arrival}, {"mix", {{"get", 0.5}, {"put", 0.5}}}}}}});
  }
};

TEST_F(TraceReplayTest, ReplaysAtTheRecordedTimesAndBeginsAgain) {
  WorkloadSpec spec = Spec({{"kind", "recorded"}});
  ResolveTrace(&spec);
  EXPECT_EQ(spec.families.front().preload.keys, 1U);
  TraceReplay replay(spec, {});
  TraceReplay::Turn turn;
  std::vector<int64_t> starts;
  std::vector<uint64_t> keys;
  for (int i = 0; i < 6; ++i) {
    const Operation operation = replay.Take(0, &turn);
    starts.push_back(operation.intended_start_ns);
    keys.push_back(operation.key);
  }
  EXPECT_EQ(keys, (std::vector<uint64_t>{1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(starts, (std::vector<int64_t>{0, 10'000, 20'000, 30'000, 38'000, 48'000}));
}

TEST_F(TraceReplayTest, KeepsTheOrderOfWritesOfAKey) {
  WorkloadSpec spec = Spec({{"kind", "closed"}});
  ResolveTrace(&spec);
  WorkloadState state(spec);
  TraceReplay& replay = *state.replay();
  std::array<TraceReplay::Turn, 4> turns;
  for (TraceReplay::Turn& turn : turns) {
    EXPECT_EQ(replay.Take(0, &turn).intended_start_ns, -1);
  }
  EXPECT_TRUE(replay.MayStart(turns[0]));
  EXPECT_FALSE(replay.MayStart(turns[1]));  // the get waits for the put
  EXPECT_FALSE(replay.MayStart(turns[2]));
  EXPECT_TRUE(replay.MayStart(turns[3]));  // another key
  replay.Done(turns[0]);
  EXPECT_TRUE(replay.MayStart(turns[1]));
  EXPECT_FALSE(replay.MayStart(turns[2]));  // the second put waits for the get
  replay.Done(turns[1]);
  EXPECT_TRUE(replay.MayStart(turns[2]));
}

TEST_F(TraceReplayTest, ARangeDeleteIsAWriteOfAllItsKeys) {
  Import(Write("ranges.csv",
               "time_us,operation,key,value_bytes,end_key\n0,put,b,10,\n1,put,d,10,\n2,delete_range,a,,c\n"
               "3,get,d,,\n4,get,b,,\n5,delete_range,a,,e\n6,delete_range,x,,y\n"));
  WorkloadSpec spec = Spec({{"kind", "closed"}});
  ResolveTrace(&spec);
  WorkloadState state(spec);
  TraceReplay& replay = *state.replay();
  std::array<TraceReplay::Turn, 7> turns;
  std::vector<uint64_t> range_keys;
  for (TraceReplay::Turn& turn : turns) {
    range_keys.push_back(replay.Take(0, &turn).range_keys);
  }
  EXPECT_EQ(range_keys, (std::vector<uint64_t>{0, 0, 1, 0, 0, 2, 0}));
  const auto may_start = [&] {
    std::string found;
    for (const TraceReplay::Turn& turn : turns) {
      found += replay.MayStart(turn) ? '1' : '0';
    }
    return found;
  };
  EXPECT_EQ(may_start(), "1100001");  // the last range has no keys
  replay.Done(turns[0]);
  EXPECT_EQ(may_start().substr(1), "110001");
  replay.Done(turns[2]);
  EXPECT_EQ(may_start().substr(3), "0101");  // b's get follows its range delete
  replay.Done(turns[1]);
  replay.Done(turns[3]);
  EXPECT_EQ(may_start().substr(4), "101");  // the wide range waits for b's get
  replay.Done(turns[4]);
  EXPECT_EQ(may_start().substr(5), "11");
}

TEST_F(TraceReplayTest, RefusesSpecsThatDoNotFitATrace) {
  const nlohmann::json mix = {{"get", 1.0}};
  EXPECT_THROW(WorkloadSpecFromJson(
                   {{"keys", 2}, {"sessions", {{{"arrival", {{"kind", "recorded"}}}, {"mix", mix}}}}}),
               std::invalid_argument);
  EXPECT_THROW(
      WorkloadSpecFromJson(
          {{"keys", 2}, {"trace", {{"path", "t"}}}, {"sessions", {{{"seconds", 5.0}, {"mix", mix}}}}}),
      std::invalid_argument);
  WorkloadSpec spec = Spec({{"kind", "closed"}});
  spec.trace.path = Write("damaged", "rtktrac1");
  EXPECT_THROW(ResolveTrace(&spec), std::invalid_argument);
}

}  // namespace
}  // namespace rocktune
