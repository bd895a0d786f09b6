#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>

namespace rocktune {

// What a mission shows of its workload.
struct WorkloadSigns {
  double read_share = 0;  // lookups and scans among operations
  double scan_share = 0;
  double log_bytes_per_operation = 0;  // of flushes
  double log_vain_reads = 0;           // time in runs without the key over the predicted time
};

// A sequential test for a change of workload: a generalised likelihood ratio over the last missions.
//
// The mean of the last 2 to 8 missions is compared with that of all earlier ones of the workload. A change is
// reported if one sign differs by more than the threshold of Student's t for a false-alarm rate of 1 in
// 20,000 missions, and by enough to matter (kMinShift in the source). The spread is the workload's own.
// Not thread-safe. Throws no exception.
class ChangeDetector {
 public:
  // Adds a mission. Returns the reason if the workload has changed; the detector then has begun with the
  // new one.
  std::optional<std::string> Add(const WorkloadSigns& signs);
  // True if the last mission alone looks like another workload. It may be the first of one, or a mixture.
  bool LastIsOdd() const { return last_is_odd_; }

 private:
  static constexpr std::size_t kSigns = 4;
  static constexpr std::size_t kRecent = 8;
  using Values = std::array<double, kSigns>;

  // Mean and spread of the missions that are not recent.
  struct Reference {
    double count = 0;
    Values mean{};
    Values squares{};  // sum of squared differences from the mean
    void Add(const Values& values);
  };
  // Returns the index of the sign that differs between the last `recent` missions and all before; nullopt if
  // none does.
  std::optional<std::size_t> Differs(std::size_t recent) const;

  Reference reference_;
  std::deque<Values> recent_;
  bool last_is_odd_ = false;
};

}  // namespace rocktune
