#include "rocktune/trace/trace_sample.h"

#include <cmath>

#include "rocktune/trace/trace_fixture.h"
#include "rocktune/workload/key_chooser.h"
#include "rocktune/workload/random.h"

namespace rocktune {
namespace {

class TraceSampleTest : public TraceTest {
 protected:
  // Writes a trace of gets and puts, with one operation each 10 us.
  std::string WriteSkewed(double skew, uint64_t keys, uint64_t operations) {
    const KeyChooserSpec spec{.kind = "scrambled_zipfian", .skew = skew};
    const std::unique_ptr<const KeyChooser> chooser = NewKeyChooser(spec, keys);
    Random random(7);
    TraceFileWriter writer(Path("operations"));
    TraceSummary summary;
    TraceFamily& family = summary.families.emplace_back();
    family.keys = family.used_keys = family.present_keys = keys;
    family.max_value_bytes = 100;
    for (uint64_t i = 0; i < operations; ++i) {
      const bool put = random.Below(2) == 0;
      const OperationKind kind = put ? OperationKind::kPut : OperationKind::kGet;
      writer.Add({10 * i, kind, 0, chooser->Next(&random, keys), put ? 100U : 0U, 0});
      ++family.operations[static_cast<std::size_t>(kind)];
    }
    summary.operations = operations;
    summary.span_us = 10 * (operations - 1);
    writer.Finish(summary, {KeyBits(WordsOf(keys), ~uint64_t{0})});
    return Path("operations");
  }
};

TEST_F(TraceSampleTest, KeepsRateMixSkewAndReuse) {
  for (const double skew : {0.8, 0.99}) {
    const std::string path = WriteSkewed(skew, 200'000, 800'000);
    const TraceSummary sample = SampleTrace(path, 16);
    ASSERT_TRUE(sample.sampling);
    const TraceSampling& sampling = *sample.sampling;
    EXPECT_NEAR(sampling.operations_ratio, 1, 0.02) << skew;
    EXPECT_NEAR(static_cast<double>(sample.families.front().keys), 200'000 / 16.0, 1'500) << skew;
    EXPECT_LT(sampling.mix_error, 0.01) << skew;
    EXPECT_NEAR(sampling.hot_share_sample, sampling.hot_share_whole, 0.05) << skew;
    EXPECT_NEAR(sampling.hit_ratio_sample, sampling.hit_ratio_whole, 0.02) << skew;
    // One operation each 10 us, as in the whole.
    EXPECT_NEAR(static_cast<double>(sample.span_us) / static_cast<double>(sample.operations), 10, 0.1)
        << skew;
    std::filesystem::remove(SamplePath(path, 16));
  }
}

TEST_F(TraceSampleTest, KeepsAllOperationsOfAKeyInOrder) {
  const std::string path = WriteSkewed(0, 50'000, 200'000);
  SampleTrace(path, 4);
  const TraceFile whole(path);
  const TraceFile sample(SamplePath(path, 4));
  // Without hot keys, the sample's operations are those of the whole on the sampled keys.
  ASSERT_EQ(sample.summary().sampling->hot_keys, 0U);
  TraceFile::Cursor cursor(sample);
  TraceOperation operation;
  uint64_t last_us = 0;
  std::vector<uint64_t> uses(sample.summary().families.front().keys);
  while (cursor.Next(&operation)) {
    EXPECT_GE(operation.time_us, last_us);
    last_us = operation.time_us;
    ++uses[operation.key];
  }
  uint64_t sum = 0;
  for (const uint64_t each : uses) {
    sum += each;
  }
  EXPECT_NEAR(static_cast<double>(sum), 50'000, 2'000);
}

TEST_F(TraceSampleTest, RefusesAScaleThatLeavesNothing) {
  const std::string path = WriteSkewed(0, 3, 3);
  EXPECT_THROW(SampleTrace(path, 1'000'000), std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(SamplePath(path, 1'000'000)));
}

}  // namespace
}  // namespace rocktune
