#pragma once

#include <cstddef>
#include <vector>

#include "rocktune/cost_plan.h"
#include "rocktune/flsm_controller.h"

namespace rocktune {

// A running estimate of y / x from pairs of both. Older pairs fade: those of 50 missions ago count a third.
// The standard error follows from the residuals y - estimate * x.
class RatioEstimate {
 public:
  void Add(double x, double y);
  // Reduces the weight of all pairs so far to `share`, from 0 to 1.
  void Fade(double share);
  CostEstimate Get() const;

  // The sums, for a file.
  std::vector<double> Sums() const { return {count_, x_, y_, xx_, xy_, yy_}; }
  // Restores the sums. REQUIRES: as many as Sums returns.
  void SetSums(const std::vector<double>& sums);

 private:
  double count_ = 0;
  double x_ = 0;
  double y_ = 0;
  double xx_ = 0;
  double xy_ = 0;
  double yy_ = 0;
};

// Running estimates of what the present workload is and what its runs and merges cost. Not thread-safe.
// Throws no exception.
class CostEstimator {
 public:
  // Adds a mission. `before` is the shape at its beginning, with the policies that the mission ran under.
  void Add(const FlsmMission& mission, const FlsmShape& before);
  // Begins a new workload. Prices stay, with less weight than what the new workload will show.
  void BeginWorkload();

  const CostWorkload& workload() const { return workload_; }
  // Returns the prices of `levels` levels. A level without an estimate gets that of the next level above that
  // has one, with a doubled standard error.
  CostPrices Prices(int levels) const;
  // Returns the nanoseconds of a mean operation of the workload apart from the runs and merges that policies
  // decide about.
  double OtherNs() const { return operations_ > 0 ? other_ns_ / operations_ : 0; }

  // The prices' sums, for a file: bytes, scans, then levels.
  std::vector<RatioEstimate*> Ratios();
  void SetLevels(std::size_t levels) { vain_.resize(levels); }

 private:
  void AddWorkload(const FlsmStatistics& statistics);
  void AddReads(const FlsmMission& mission, const FlsmShape& before, double share);
  void AddScans(const FlsmServed& served, double read_ns);

  CostWorkload workload_;
  double missions_ = 0;    // of the workload, fading
  double operations_ = 0;  // of the workload
  double other_ns_ = 0;    // of these
  FlsmServed quiet_;       // of the workload
  FlsmServed merging_;     // of the workload
  RatioEstimate byte_;     // nanoseconds over bytes
  RatioEstimate scan_;     // covariance of nanoseconds and runs, over the variance of runs
  double scan_x_ = 0;      // means of the workload's quiet missions: runs scanned per operation
  double scan_y_ = 0;      // nanoseconds per operation
  double scan_count_ = 0;
  std::vector<RatioEstimate> vain_;  // by level: nanoseconds over lookups x runs
};

// Returns the mean number of runs of a level during a mission.
double MeanRuns(const FlsmMission& mission, const FlsmShape& before, int level);
// Returns the time of lookups in runs without the key, level 0 counted as part of level 1.
double VainNs(const FlsmStatistics& statistics, int level);

}  // namespace rocktune
