#include "rocktune/adaptive/level_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rocktune {
namespace {

// Arrivals that are followed one by one. A level repeats itself after each push, so the rest is extrapolated
// from whole cycles. Above the maximum T several times.
constexpr int kFollowed = 400;

// The runs of one level.
class LevelRuns {
 public:
  LevelRuns(const FlsmShape& shape, int level, int policy)
      : capacity_(shape.Capacity(level)),
        half_push_(shape.Incoming(level) / 2),
        share_(static_cast<double>(capacity_) / policy),
        is_deepest_(level == shape.deepest()) {
    const std::vector<FlsmRun>& runs = shape.level(level).runs;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      if (run->use != RunUse::kLeaving) {
        older_ += newest_;
        newest_ = run->bytes;
        sealed_ = run->sealed;
        ++count_;
      }
    }
    sealed_ = sealed_ || (count_ > 0 && IsNewestFull());
  }

  int count() const { return count_; }

  // Takes in a push and returns the bytes that are read and written.
  uint64_t Arrive(uint64_t bytes, bool is_moved) {
    uint64_t moved = 2 * bytes;
    if (count_ > 0 && !sealed_) {
      moved += 2 * newest_;
      newest_ += bytes;
    } else {
      moved = is_moved ? 0 : moved;
      older_ += newest_;
      newest_ = bytes;
      ++count_;
    }
    sealed_ = IsNewestFull();
    return moved;
  }
  // Pushes the level if it is full, and returns whether it was.
  bool Leave() {
    if (is_deepest_ || older_ + newest_ + half_push_ < capacity_) {
      return false;
    }
    older_ = newest_ = 0;
    count_ = 0;
    return true;
  }

 private:
  // The rule of IsFullRun in flsm_task.h.
  bool IsNewestFull() const {
    const double begins = std::floor(static_cast<double>(older_ + half_push_) / share_);
    return static_cast<double>(older_ + newest_ + half_push_) >= (begins + 1) * share_ &&
           static_cast<double>(newest_) >= share_ / 2;
  }

  const uint64_t capacity_;
  const uint64_t half_push_;
  const double share_;
  const bool is_deepest_;
  uint64_t older_ = 0;   // bytes of all runs but the newest
  uint64_t newest_ = 0;  // bytes of the newest run
  bool sealed_ = false;  // of the newest run
  int count_ = 0;
};

// Sums without weights, from which the rest is extrapolated.
struct Followed {
  double at = 0;
  double runs = 0;
  double moved_bytes = 0;
};

// Adds the work from a time to the horizon, at the mean rates between two moments.
void Extrapolate(const Followed& from, const Followed& to, double at, const CostHorizon& horizon,
                 LevelForecast* forecast) {
  const double weight = horizon.Weight(at, horizon.missions);
  const double missions = to.at - from.at;
  forecast->runs += weight * (to.runs - from.runs) / missions;
  forecast->moved_bytes += weight * (to.moved_bytes - from.moved_bytes) / missions;
}

}  // namespace

double CostHorizon::Weight(double from, double to) const {
  return std::isinf(half_after) ? to - from : half_after * std::log((half_after + to) / (half_after + from));
}

Arrivals FlushArrivals(uint64_t flush_bytes, double bytes_per_mission) {
  const double period = bytes_per_mission > 0 ? static_cast<double>(flush_bytes) / bytes_per_mission
                                              : std::numeric_limits<double>::infinity();
  return {period, flush_bytes, period, flush_bytes};
}

Arrivals PushArrivals(const FlsmShape& shape, int level, const Arrivals& arrivals) {
  if (std::isinf(arrivals.period)) {
    return arrivals;  // nothing arrives here, so nothing does below
  }
  const uint64_t full_bytes = shape.Capacity(level) - shape.Incoming(level) / 2;
  const auto full = static_cast<double>(full_bytes);
  const auto held = static_cast<double>(shape.level(level).staying_bytes());
  const auto first = static_cast<double>(arrivals.first_bytes);
  const auto each = static_cast<double>(arrivals.bytes);
  const double further = std::max(0.0, std::ceil((full - held - first) / each));
  const double cycle = std::max(1.0, std::ceil(full / each));
  return {arrivals.first_at + further * arrivals.period, static_cast<uint64_t>(held + first + further * each),
          cycle * arrivals.period, static_cast<uint64_t>(cycle * each)};
}

LevelForecast ForecastLevel(const FlsmShape& shape, int level, int policy, const Arrivals& arrivals,
                            const CostHorizon& horizon, bool moves) {
  LevelRuns runs(shape, level, policy);
  LevelForecast forecast;
  Followed now;
  Followed first_push;
  Followed last_push;
  double next = arrivals.first_at;
  uint64_t bytes = arrivals.first_bytes;
  for (int arrived = 0; arrived < kFollowed && next < horizon.missions; ++arrived) {
    forecast.runs += runs.count() * horizon.Weight(now.at, next);
    now.runs += runs.count() * (next - now.at);
    now.at = next;
    const auto moved = static_cast<double>(runs.Arrive(bytes, moves));
    // The weight at this moment.
    const double weight =
        std::isinf(horizon.half_after) ? 1 : horizon.half_after / (horizon.half_after + next);
    forecast.moved_bytes += weight * moved;
    now.moved_bytes += moved;
    if (runs.Leave()) {
      last_push = now;
      first_push = first_push.at > 0 ? first_push : now;
    }
    next += arrivals.period;
    bytes = arrivals.bytes;
  }
  if (next >= horizon.missions) {
    forecast.runs += runs.count() * horizon.Weight(now.at, horizon.missions);
  } else if (last_push.at > first_push.at) {
    Extrapolate(first_push, last_push, now.at, horizon, &forecast);
  } else {
    Extrapolate({}, now, now.at, horizon, &forecast);
  }
  return forecast;
}

}  // namespace rocktune
