#include "rocktune/adaptive/change_detector.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace rocktune {
namespace {

constexpr std::array kNames = {"share of reads", "share of scans", "bytes per operation",
                               "time of vain reads over the expected"};
// Minimum difference that matters: shares, then logarithms. On a store the time of vain reads varies by half:
// few of them are sampled, and caches fill.
constexpr std::array kMinShift = {0.03, 0.03, 0.25, 0.7};
// A spread to begin with, as if it had been seen in kPriorMissions missions.
constexpr std::array kPriorSpread = {0.01, 0.01, 0.15, 0.4};
constexpr double kPriorMissions = 4;
// Bound of a standard normal variable that 1 in 25 million exceeds on either side. With 4 signs and 7
// lengths, which are fewer than 28 tests, that is 1 mission in a million. The rest of the stated rate is for
// spreads that are estimated from few missions, for which the quotient below is an approximation.
constexpr double kBound = 5.5;

// Returns an upper bound of the same quantile of Student's t.
double BoundOfStudent(double degrees) { return kBound * (1 + 9 / degrees); }

}  // namespace

void ChangeDetector::Reference::Add(const Values& values) {
  count += 1;
  for (std::size_t sign = 0; sign < kSigns; ++sign) {
    const double from_mean = values[sign] - mean[sign];
    mean[sign] += from_mean / count;
    squares[sign] += from_mean * (values[sign] - mean[sign]);
  }
}

std::optional<std::size_t> ChangeDetector::Differs(std::size_t recent) const {
  Reference before = reference_;
  for (std::size_t at = 0; at + recent < recent_.size(); ++at) {
    before.Add(recent_[at]);
  }
  if (before.count < 1) {
    return std::nullopt;
  }
  for (std::size_t sign = 0; sign < kSigns; ++sign) {
    double mean = 0;
    for (std::size_t at = recent_.size() - recent; at < recent_.size(); ++at) {
      mean += recent_[at][sign] / static_cast<double>(recent);
    }
    // A single mission that differs may be an outlier, or a mixture of two workloads. Both of the last two
    // must differ, to the same side.
    const double side = mean > before.mean[sign] ? 1 : -1;
    const std::size_t checked = std::min<std::size_t>(recent, 2);
    const bool all_differ = std::all_of(
        recent_.end() - static_cast<std::ptrdiff_t>(checked), recent_.end(),
        [&](const Values& values) { return side * (values[sign] - before.mean[sign]) > kMinShift[sign]; });
    const double degrees = kPriorMissions + before.count - 1;
    const double spread = std::sqrt(
        (kPriorMissions * kPriorSpread[sign] * kPriorSpread[sign] + before.squares[sign]) / degrees);
    const double error = spread * std::sqrt(1 / static_cast<double>(recent) + 1 / before.count);
    const double shift = std::abs(mean - before.mean[sign]);
    if (all_differ && shift > BoundOfStudent(degrees) * error) {
      return sign;
    }
  }
  return std::nullopt;
}

std::optional<std::string> ChangeDetector::Add(const WorkloadSigns& signs) {
  recent_.push_back(
      {signs.read_share, signs.scan_share, signs.log_bytes_per_operation, signs.log_vain_reads});
  if (recent_.size() > kRecent) {
    reference_.Add(recent_.front());
    recent_.pop_front();
  }
  last_is_odd_ = Differs(1).has_value();
  for (std::size_t recent = 2; recent <= recent_.size(); ++recent) {
    const std::optional<std::size_t> sign = Differs(recent);
    if (!sign) {
      continue;
    }
    const double was = reference_.count > 0 ? reference_.mean[*sign] : recent_.front()[*sign];
    std::array<char, 120> why{};
    const bool is_share = *sign < 2;
    const double now = recent_.back()[*sign];
    std::snprintf(why.data(), why.size(), "new workload: %s %.3g instead of %.3g", kNames[*sign],
                  is_share ? now : std::exp(now), is_share ? was : std::exp(was));
    recent_.erase(recent_.begin(), recent_.end() - 1);
    reference_ = {};
    last_is_odd_ = false;
    return std::string(why.data());
  }
  return std::nullopt;
}

}  // namespace rocktune
