#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace rocktune {

// The kinds of operations. A kGetAbsent looks up a key that does not exist; a kInsert writes a new key; a
// kDeleteRange deletes successive keys with one range tombstone.
enum class OperationKind { kGet, kGetAbsent, kPut, kInsert, kDelete, kScan, kReadModifyWrite, kDeleteRange };
inline constexpr std::size_t kOperationKindCount = 8;
// Names in JSON, indexed by OperationKind.
inline constexpr std::array<const char*, kOperationKindCount> kOperationKindNames = {
    "get", "get_absent", "put", "insert", "delete", "scan", "read_modify_write", "delete_range"};

// Shares of operations, indexed by OperationKind; they sum to 1.
using OperationMix = std::array<double, kOperationKindCount>;

// A distribution of the keys that operations use. Only the members of its kind, named in the comments,
// matter.
struct KeyChooserSpec {
  // uniform | zipfian | scrambled_zipfian | true_zipf | hotspot | latest | two_term_exponential | oldest (of
  // a queue: deletes remove the oldest keys, scans begin before them, other operations access the oldest one)
  std::string kind = "uniform";
  double skew = 0.0;                 // zipfian, scrambled_zipfian, latest: [0, 1); true_zipf: above 0
  double hot_key_share = 0.2;        // hotspot: hot keys, as a share of all keys
  double hot_operation_share = 0.8;  // hotspot: operations on hot keys, as a share of all operations
  double range_a = 0, range_b = 0, range_c = 0, range_d = 0;  // mixgraph: keyrange_dist_{a,b,c,d}
  uint64_t ranges = 1;                                        // mixgraph: keyrange_num
  double key_a = 0, key_b = 0;  // mixgraph: key_dist_{a,b}; both 0 means uniform within a range

  bool operator==(const KeyChooserSpec&) const = default;
};

// A distribution of sizes: of values in bytes, of scans in entries, or of deleted ranges in keys.
struct SizeSpec {
  std::string kind = "fixed";          // fixed | uniform | pareto (generalized, as mixgraph's)
  uint64_t low = 1024;                 // fixed: the size
  uint64_t high = 1024;                // uniform: the maximum; pareto: larger sizes are taken modulo it
  double k = 0, sigma = 0, theta = 0;  // pareto
};

// The start times of operations; see Arrival.
struct ArrivalSpec {
  std::string kind = "closed";  // closed | fixed_rate | sine | bursts | recorded (a trace's own times)
  // Operations per second, of all threads together. sine: the mean; bursts: the rate while on.
  double operations_s = 0;
  double amplitude_operations_s = 0;  // sine: operations per second
  double period_s = 0;                // sine; bursts: on and off together
  double on_s = 0;                    // bursts: the part of a period with operations
  double phase_s = 0;                 // sine, bursts: the session begins this far into a period
  // All but closed: an operation is left out if it cannot start within this time after its intended start. 0
  // means that no operation is left out.
  double patience_s = 0;
};

// The operations of a session on one column family.
struct LoadSpec {
  double share = 1;  // of the session's operations; the shares of a session sum to 1
  OperationMix mix{};
  KeyChooserSpec key_chooser{};
  SizeSpec value;
  SizeSpec scan_length;  // entries
  // Keys of a deleted range; at least 1 if the mix has kDeleteRange.
  SizeSpec delete_range_keys{.kind = "fixed", .low = 0};
};

// A part of a workload with its own operations, arrival and length. The first session follows the last one.
struct SessionSpec {
  double seconds = 0;  // length; 0 means that the session never ends
  ArrivalSpec arrival{};
  std::vector<LoadSpec> loads;  // by column family, as WorkloadSpec::families
};

// The keys that are loaded before a run's age 0.
struct PreloadSpec {
  uint64_t keys = 0;          // the keys 0 .. keys - 1 are loaded
  bool random_order = false;  // false loads them in ascending order
};

// The data of one column family.
struct FamilySpec {
  std::string name = "default";
  uint64_t keys = 0;        // number of keys in the key space at the start: indices 0 .. keys - 1
  uint64_t key_bytes = 16;  // at least 8
  double value_compressed_fraction = 0.5;  // size of a compressed value over its size, above 0 and at most 1
  PreloadSpec preload{};
  SizeSpec value{};  // of preloaded values
};

// A trace whose operations replace those that the sessions' mixes, keys and sizes describe.
struct TraceSpec {
  std::string path;    // of a trace file; empty if there is no trace
  uint64_t scale = 1;  // the sample for a 1/S model is replayed; see SamplePath
  // Of the whole trace; 0 if they are not known. ResolveTrace compares the operations with the file's.
  uint64_t operations = 0;
  double seconds = 0;
};

// A workload, as the worker's protocol describes it.
struct WorkloadSpec {
  std::string name;
  uint64_t threads = 1;
  std::vector<FamilySpec> families;   // at least one, with different names
  std::vector<SessionSpec> sessions;  // at least one
  TraceSpec trace;
  bool wal = true;    // writes go to the WAL
  bool sync = false;  // each write syncs the WAL; needs `wal`

  // Returns the number of preloaded keys of all families.
  uint64_t preload_keys() const;
  // Returns the maximum size of a family's values, preloaded or written, in bytes.
  uint64_t max_value_bytes(std::size_t family) const;
};

inline constexpr double kMinSeconds = 1e-3;  // minimum length of a session, and of a period
inline constexpr double kMinRate = 1e-3;     // minimum rate of an arrival, in operations per second

// Returns the workload in `json`. Its fields are `name`, `threads`, `wal`, `sync`, and
// - `sessions`, required: `seconds`, `arrival`, and the fields of LoadSpec but `share`;
// - `key_chooser`, `value`, `scan_length`, `delete_range_keys`: those of sessions that do not say otherwise;
// - the fields of FamilySpec but `name`, for a workload on the default column family alone;
// - `trace`: the fields of TraceSpec. The families are then the trace's, in its order; one session without
// end
//   has the arrival, and `keys` and `preload` say only whether no key, the trace's present keys or all keys
//   are loaded.
// - `families`: the column families, each with the fields of FamilySpec and LoadSpec. Then `keys` and
// `preload`
//   are their families'; `key_bytes` and `value_compressed_fraction` are those of families that do not say
//   otherwise. A session may have `families`, too, each with a `name` and fields of LoadSpec.
// A family's operations in a session are the session's for the family, else the family's, else the session's
// for all, else the workload's. Families have equal shares unless they say otherwise. Preloaded values have
// the family's sizes, else the workload's. Other absent fields have the defaults above. Throws
// std::invalid_argument, with one line that names the field, for a field that is unknown, has the wrong type
// or is out of range.
WorkloadSpec WorkloadSpecFromJson(const nlohmann::json& json);

}  // namespace rocktune
