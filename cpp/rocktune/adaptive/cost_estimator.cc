#include "rocktune/adaptive/cost_estimator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rocktune/adaptive/level_forecast.h"

namespace rocktune {
namespace {

constexpr double kFading = 0.98;         // weight of a mission over that of the next one
constexpr double kKeptOfPrices = 0.3;    // when a workload begins
constexpr double kDoubtOfOnePair = 0.3;  // relative standard error of a single pair, which has no residual
// Weight of the assumption that a scan's time is all in its runs, in missions, until runs have varied.
constexpr double kScanPrior = 0.05;

void AddTo(FlsmServed* sum, const FlsmServed& more) {
  for (const auto& [name, field] : FlsmServed::Fields()) {
    sum->*field += more.*field;
  }
}

// Returns the time of operations apart from the runs that they read or scan.
double RestNs(const FlsmServed& served, double read_ns, double scan_ns) {
  return static_cast<double>(served.busy_ns) - read_ns * static_cast<double>(served.passed) -
         scan_ns * static_cast<double>(served.scanned);
}

double MovedBytes(const FlsmStatistics& statistics) {
  double bytes = 0;
  for (const FlsmLevelStatistics& level : statistics.levels) {
    bytes += static_cast<double>(level.compaction_read_bytes) +
             static_cast<double>(level.compaction_written_bytes);
  }
  return bytes;
}

// Returns the nanoseconds of a run that a lookup reads. A merge never makes reads quicker, so of quiet and
// merging operations the quicker ones tell.
double ReadNs(const FlsmServed& quiet, const FlsmServed& merging) {
  double read_ns = std::numeric_limits<double>::infinity();
  for (const FlsmServed& served : {quiet, merging}) {
    if (served.passed > 0) {
      read_ns = std::min(read_ns, static_cast<double>(served.read_ns) / static_cast<double>(served.passed));
    }
  }
  return std::isinf(read_ns) ? 0 : read_ns;
}

}  // namespace

void RatioEstimate::Add(double x, double y) {
  Fade(kFading);
  count_ += 1;
  x_ += x;
  y_ += y;
  xx_ += x * x;
  xy_ += x * y;
  yy_ += y * y;
}

void RatioEstimate::Fade(double share) {
  for (double* sum : {&count_, &x_, &y_, &xx_, &xy_, &yy_}) {
    *sum *= share;
  }
}

CostEstimate RatioEstimate::Get() const {
  if (x_ <= 0 || count_ <= 0) {
    return {};
  }
  const double value = y_ / x_;
  const double residual = std::max(0.0, yy_ - 2 * value * xy_ + value * value * xx_);
  const double doubt = kDoubtOfOnePair * std::abs(value) * x_ / count_;
  return {value, std::sqrt(residual + doubt * doubt) / x_};
}

void RatioEstimate::SetSums(const std::vector<double>& sums) {
  count_ = sums[0];
  x_ = sums[1];
  y_ = sums[2];
  xx_ = sums[3];
  xy_ = sums[4];
  yy_ = sums[5];
}

double MeanRuns(const FlsmMission& mission, const FlsmShape& before, int level) {
  const auto runs_of = [level](const FlsmShape& shape) {
    return static_cast<double>(shape.level(level).runs.size() + (level == 1 ? shape.level0_files : 0));
  };
  Arrivals arrivals = FlushArrivals(std::max<uint64_t>(1, before.Incoming(1)),
                                    static_cast<double>(mission.statistics.flushed_bytes));
  for (int above = 1; above < level; ++above) {
    arrivals = PushArrivals(before, above, arrivals);
  }
  // With several arrivals the two ends say little about the time between them.
  if (arrivals.period > 0.5) {
    return (runs_of(before) + runs_of(mission.shape)) / 2;
  }
  const CostHorizon mission_only{1, std::numeric_limits<double>::infinity()};
  return ForecastLevel(before, level, before.Policy(level), arrivals, mission_only, false).runs;
}

double VainNs(const FlsmStatistics& statistics, int level) {
  const auto number = static_cast<std::size_t>(level);
  const auto flushed = level == 1 ? statistics.levels[0].false_positive_read_ns : 0;
  return static_cast<double>(statistics.levels[number].false_positive_read_ns + flushed);
}

void CostEstimator::Add(const FlsmMission& mission, const FlsmShape& before) {
  const FlsmStatistics& statistics = mission.statistics;
  AddWorkload(statistics);
  AddTo(&quiet_, statistics.quiet);
  AddTo(&merging_, statistics.merging);
  const double read_ns = ReadNs(quiet_, merging_);
  // Reads during merges take longer. The excess is charged to the merges' bytes and must not count twice.
  const double passed =
      static_cast<double>(statistics.quiet.passed) + static_cast<double>(statistics.merging.passed);
  const double in_reads_ns =
      static_cast<double>(statistics.quiet.read_ns) + static_cast<double>(statistics.merging.read_ns);
  const double share = statistics.merging.read_ns > 0 ? std::min(1.0, read_ns * passed / in_reads_ns) : 1;
  AddReads(mission, before, share);
  AddScans(statistics.quiet.operations > 0 ? statistics.quiet : statistics.merging, read_ns);
  const double scan_ns = statistics.iterators > 0 ? scan_.Get().value : 0;
  const FlsmServed& calm = quiet_.operations > 0 ? quiet_ : merging_;
  const double other_ns =
      calm.operations > 0 ? RestNs(calm, read_ns, scan_ns) / static_cast<double>(calm.operations) : 0;
  const double waited_ns = RestNs(statistics.merging, read_ns, scan_ns) -
                           other_ns * static_cast<double>(statistics.merging.operations);
  if (const double moved = MovedBytes(statistics); moved > 0) {
    byte_.Add(moved, waited_ns);
  }
  double of_policies_ns =
      waited_ns + scan_ns * static_cast<double>(statistics.quiet.scanned + statistics.merging.scanned);
  for (int level = 1; level <= mission.shape.LevelsInUse(); ++level) {
    of_policies_ns += VainNs(statistics, level);
  }
  operations_ += workload_.operations();
  other_ns_ += static_cast<double>(statistics.busy_ns) - of_policies_ns;
}

void CostEstimator::AddWorkload(const FlsmStatistics& statistics) {
  missions_ = kFading * missions_ + 1;
  const auto average = [this](double* mean, uint64_t now) {
    *mean += (static_cast<double>(now) - *mean) / missions_;
  };
  average(&workload_.lookups, statistics.lookups);
  average(&workload_.scans, statistics.iterators);
  average(&workload_.writes, statistics.entries_written);
  average(&workload_.flushed_bytes, statistics.flushed_bytes);
}

void CostEstimator::AddReads(const FlsmMission& mission, const FlsmShape& before, double share) {
  const int levels = mission.shape.LevelsInUse();
  vain_.resize(std::max(vain_.size(), static_cast<std::size_t>(levels)));
  for (int level = 1; level <= levels && mission.statistics.lookups > 0; ++level) {
    const double runs = MeanRuns(mission, before, level);
    if (runs > 0) {
      vain_[static_cast<std::size_t>(level) - 1].Add(runs * static_cast<double>(mission.statistics.lookups),
                                                     share * VainNs(mission.statistics, level));
    }
  }
}

void CostEstimator::AddScans(const FlsmServed& served, double read_ns) {
  if (served.scanned == 0) {
    return;
  }
  const auto operations = static_cast<double>(served.operations);
  const double x = static_cast<double>(served.scanned) / operations;
  const double y = RestNs(served, read_ns, 0) / operations;
  if (scan_count_ == 0) {
    scan_.Add(kScanPrior * x * x, kScanPrior * x * y);
  }
  // The slope of latency over runs: covariance over variance, summed up around the running means.
  scan_count_ += 1;
  const double from_mean = x - scan_x_;
  if (scan_count_ > 1) {
    const double part = (scan_count_ - 1) / scan_count_;
    scan_.Add(part * from_mean * from_mean, part * from_mean * (y - scan_y_));
  }
  scan_x_ += from_mean / scan_count_;
  scan_y_ += (y - scan_y_) / scan_count_;
}

void CostEstimator::BeginWorkload() {
  workload_ = {};
  missions_ = operations_ = other_ns_ = 0;
  quiet_ = merging_ = {};
  scan_x_ = scan_y_ = scan_count_ = 0;
  for (RatioEstimate* ratio : Ratios()) {
    ratio->Fade(kKeptOfPrices);
  }
}

CostPrices CostEstimator::Prices(int levels) const {
  CostPrices prices{byte_.Get(), scan_.Get(), {}};
  prices.byte_ns.value = std::max(0.0, prices.byte_ns.value);
  prices.scan_ns.value = std::max(0.0, prices.scan_ns.value);
  for (std::size_t level = 0; level < static_cast<std::size_t>(levels); ++level) {
    CostEstimate vain = level < vain_.size() ? vain_[level].Get() : CostEstimate{};
    if (std::isinf(vain.deviation) && level > 0) {
      vain = prices.vain_ns.back();
      vain.deviation *= 2;
    }
    prices.vain_ns.push_back(vain);
  }
  return prices;
}

std::vector<RatioEstimate*> CostEstimator::Ratios() {
  std::vector<RatioEstimate*> ratios{&byte_, &scan_};
  for (RatioEstimate& vain : vain_) {
    ratios.push_back(&vain);
  }
  return ratios;
}

}  // namespace rocktune
