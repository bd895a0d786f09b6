#include "rocktune/adaptive/level_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace rocktune {
namespace {

// Arrivals that are followed one by one. A level repeats itself after each push, so the rest is extrapolated
// from whole cycles. Above the maximum T several times.
constexpr int kFollowed = 400;

// The runs of one level; level 1 has those that wait in level 0, too.
class LevelRuns {
 public:
  LevelRuns(const FlsmShape& shape, int level, int policy)
      : policy_(static_cast<uint64_t>(policy)),
        capacity_(shape.Capacity(level)),
        half_push_(shape.Incoming(level) / 2),
        share_(static_cast<double>(capacity_) / policy),
        is_deepest_(level == shape.deepest()) {
    if (level == 1 && shape.max_level0_files > 0) {
      max_waiting_ = shape.max_level0_files;
      waiting_ = shape.level0_files;
      waiting_bytes_ = shape.level0_bytes;
      merging_pushes_ = is_deepest_ ? 0 : 1 - static_cast<double>(shape.Policy(2)) / shape.size_ratio;
    }
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

  double count() const { return static_cast<double>(count_ + waiting_); }

  // Takes in a push and returns the bytes that are read and written.
  uint64_t Arrive(uint64_t bytes, bool is_moved) {
    if (max_waiting_ == 0) {
      return Merge(bytes, is_moved);
    }
    ++waiting_;
    waiting_bytes_ += bytes;
    if (IsFull() || (waiting_ <= max_waiting_ && waiting_ + count_ <= policy_)) {
      return 0;
    }
    const bool is_file = std::exchange(waiting_, 0) == 1;
    return Merge(std::exchange(waiting_bytes_, 0), is_moved && is_file);
  }
  // Pushes the level if it is full, and returns whether it was. `*moved` grows by the bytes that are read and
  // written before the push. Where it merges with a run below, files in level 0 are merged into level 1
  // first; that is before all but K of T pushes.
  bool Leave(double* moved) {
    if (!IsFull()) {
      return false;
    }
    if (waiting_ > 0) {
      *moved += merging_pushes_ * static_cast<double>(Merge(waiting_bytes_, false));
    }
    older_ = newest_ = waiting_bytes_ = 0;
    count_ = waiting_ = 0;
    return true;
  }

 private:
  bool IsFull() const { return !is_deepest_ && older_ + newest_ + waiting_bytes_ + half_push_ >= capacity_; }
  // Adds bytes to the newest run if it is open, else as a run of their own.
  uint64_t Merge(uint64_t bytes, bool is_moved) {
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
  // The rule of IsFullRun in flsm_task.h.
  bool IsNewestFull() const {
    const double begins = std::floor(static_cast<double>(older_ + half_push_) / share_);
    return static_cast<double>(older_ + newest_ + half_push_) >= (begins + 1) * share_ &&
           static_cast<double>(newest_) >= share_ / 2;
  }

  const uint64_t policy_;
  const uint64_t capacity_;
  const uint64_t half_push_;
  const double share_;
  const bool is_deepest_;
  uint64_t older_ = 0;   // bytes of all runs but the newest
  uint64_t newest_ = 0;  // bytes of the newest run
  bool sealed_ = false;  // of the newest run
  uint64_t count_ = 0;
  // Files in level 0. All stay 0 where each flush is merged at once.
  uint64_t max_waiting_ = 0;
  uint64_t waiting_ = 0;
  uint64_t waiting_bytes_ = 0;
  double merging_pushes_ = 0;  // share of the pushes that merge with a run below
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
  const auto held =
      static_cast<double>(shape.level(level).staying_bytes() + (level == 1 ? shape.level0_bytes : 0));
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
    auto moved = static_cast<double>(runs.Arrive(bytes, moves));
    const bool has_left = runs.Leave(&moved);
    // The weight at this moment.
    const double weight =
        std::isinf(horizon.half_after) ? 1 : horizon.half_after / (horizon.half_after + next);
    forecast.moved_bytes += weight * moved;
    now.moved_bytes += moved;
    if (has_left) {
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
