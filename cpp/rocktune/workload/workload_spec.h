#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace rocktune {

enum class OperationKind { kGet, kGetAbsent, kPut, kInsert, kDelete, kScan, kReadModifyWrite };
inline constexpr std::size_t kOperationKindCount = 7;
// Names as they stand in JSON, indexed by OperationKind.
inline constexpr std::array<const char*, kOperationKindCount> kOperationKindNames = {
    "get", "get_absent", "put", "insert", "delete", "scan", "read_modify_write"};

// Shares of operations, indexed by OperationKind; they sum to 1.
using OperationMix = std::array<double, kOperationKindCount>;

struct KeyChooserSpec {
  // uniform | zipfian | scrambled_zipfian | true_zipf | hotspot | latest | two_term_exponential
  std::string kind = "uniform";
  double skew = 0.0;                 // zipfian, scrambled_zipfian, latest: [0, 1); true_zipf: above 0
  double hot_key_share = 0.2;        // hotspot: this share of keys ...
  double hot_operation_share = 0.8;  // ... gets this share of operations
  double range_a = 0, range_b = 0, range_c = 0, range_d = 0;  // mixgraph: keyrange_dist_{a,b,c,d}
  uint64_t ranges = 1;                                        // mixgraph: keyrange_num
  double key_a = 0, key_b = 0;  // mixgraph: key_dist_{a,b}; both 0: uniform within a range
};

struct SizeSpec {
  std::string kind = "fixed";          // fixed | uniform | pareto (generalized, as mixgraph's)
  uint64_t low = 1024;                 // fixed: the size
  uint64_t high = 1024;                // uniform: inclusive; pareto: larger ones are taken modulo it
  double k = 0, sigma = 0, theta = 0;  // pareto
};

struct ArrivalSpec {
  std::string kind = "closed";        // closed | fixed_rate | sine | bursts
  double operations_s = 0;            // fixed_rate; sine: mean; bursts: while on (over all threads)
  double amplitude_operations_s = 0;  // sine
  double period_s = 0;                // sine; bursts: on and off together
  double on_s = 0;                    // bursts
  double phase_s = 0;                 // sine, bursts: how far into its period the session begins
  double patience_s = 0;              // open: what could not start within it is left out; 0: nothing is
};

// A stretch of time with a mix and an arrival of its own; after the last session the first begins again.
struct SessionSpec {
  double seconds = 0;  // 0: for ever
  OperationMix mix{};
  ArrivalSpec arrival;
};

struct PreloadSpec {
  uint64_t keys = 0;  // 0: none; otherwise the keys 0 .. keys - 1
  bool random_order = false;
};

struct WorkloadSpec {
  std::string name;
  uint64_t keys = 0;        // key space at the start: indices 0 .. keys - 1
  uint64_t key_bytes = 16;  // at least 8
  SizeSpec value;
  double value_compressed_fraction = 0.5;
  uint64_t threads = 1;
  KeyChooserSpec key_chooser;
  SizeSpec scan_length;               // entries
  std::vector<SessionSpec> sessions;  // at least one
  PreloadSpec preload;
  bool wal = true;
  bool sync = false;
};

inline constexpr double kShortestSeconds = 1e-3;  // of a session or an arrival's period
inline constexpr double kMinRate = 1e-3;          // operations a second

// Throws nlohmann::json::exception or std::invalid_argument (one line, naming the field) for a malformed
// spec.
WorkloadSpec WorkloadSpecFromJson(const nlohmann::json& json);

}  // namespace rocktune
