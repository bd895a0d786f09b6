#include "rocktune/workload/trace_replay.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "rocktune/workload/random.h"

namespace rocktune {
namespace {

// The period has one mean gap more than the span, so that the last operation and the next first one differ.
int64_t PeriodNs(const TraceSummary& summary) {
  return static_cast<int64_t>((summary.span_us + summary.span_us / summary.operations + 1) * 1000);
}

std::size_t StripeOf(std::size_t family, uint64_t key, std::size_t stripes) {
  return static_cast<std::size_t>(Mix64(uint64_t{family} << 40 ^ key) % stripes);
}

}  // namespace

std::unique_ptr<TraceFile> ResolveTrace(WorkloadSpec* spec) {
  auto file = std::make_unique<TraceFile>(SamplePath(spec->trace.path, spec->trace.scale));
  const std::vector<TraceFamily>& families = file->summary().families;
  if (families.size() != spec->families.size() || file->summary().operations == 0) {
    throw std::invalid_argument("trace: " + spec->trace.path + " has " + std::to_string(families.size()) +
                                " column families, and the workload " +
                                std::to_string(spec->families.size()) + "; import the trace again");
  }
  if (spec->trace.scale == 1 && spec->trace.operations != 0 &&
      spec->trace.operations != file->summary().operations) {
    throw std::invalid_argument("trace: " + spec->trace.path +
                                " has other operations than the workload states; import the trace again");
  }
  for (std::size_t i = 0; i < families.size(); ++i) {
    FamilySpec& family = spec->families[i];
    const bool all = family.preload.keys == family.keys;
    family.keys = families[i].keys;
    if (const std::optional<StoredEntries>& stored = families[i].stored) {
      // The whole database is known, so that "all keys" are its keys.
      family.preload.keys = stored->keys;
      family.value = {.kind = "fixed", .low = stored->value_bytes / std::max<uint64_t>(1, stored->keys)};
    } else if (family.preload.keys > 0) {
      family.preload.keys = all ? families[i].keys : families[i].present_keys;
    }
    LoadSpec& load = spec->sessions.front().loads[i];
    load.key_chooser = KeyChooserSpec();
    // The maximum is that of the trace, so that all its values fit.
    load.value = {.kind = "uniform", .low = 0, .high = families[i].max_value_bytes};
  }
  return file;
}

TraceReplay::TraceReplay(const WorkloadSpec& spec, const std::vector<Arrival>& arrivals)
    : file_(SamplePath(spec.trace.path, spec.trace.scale)),
      recorded_(spec.sessions.front().arrival.kind == "recorded"),
      period_ns_(PeriodNs(file_.summary())),
      cursor_(file_),
      // One clock for all threads: operations keep the trace's order in time, too.
      clock_(spec.sessions, arrivals, 0, 1),
      entered_(kStripes) {}

Operation TraceReplay::Take(int64_t now_ns, Turn* turn) {
  const std::lock_guard<std::mutex> lock(mutex_);
  TraceOperation traced;
  if (!cursor_.Next(&traced)) {
    cursor_.Restart();
    cursor_.Next(&traced);
    begin_ns_ += period_ns_;
  }
  const int64_t start_ns =
      recorded_ ? begin_ns_ + static_cast<int64_t>(traced.time_us) * 1000 : clock_.Next(now_ns).intended_ns;
  const bool is_range = traced.kind == OperationKind::kDeleteRange;
  turn->write = is_range || traced.kind == OperationKind::kPut || traced.kind == OperationKind::kDelete;
  turn->places.clear();
  if (is_range) {
    EnterRange(traced, turn);
  } else {
    Enter(StripeOf(traced.family, traced.key, kStripes), turn);
  }
  return {traced.kind,        traced.family,     traced.key, traced.scan_length,
          traced.value_bytes, traced.range_keys, start_ns};
}

void TraceReplay::Enter(std::size_t stripe, Turn* turn) {
  Stripe& entered = stripes_[stripe];
  turn->places.push_back({stripe, entered.operations, entered.writes});
  ++entered.operations;
  entered.writes += turn->write;
}

void TraceReplay::EnterRange(const TraceOperation& range, Turn* turn) {
  if (range.range_keys >= kStripes) {
    for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
      Enter(stripe, turn);
    }
    return;
  }
  for (uint64_t key = range.key; key < range.key + range.range_keys; ++key) {
    const std::size_t stripe = StripeOf(range.family, key, kStripes);
    if (!entered_[stripe]) {
      entered_[stripe] = true;
      Enter(stripe, turn);
    }
  }
  for (const Turn::Place& place : turn->places) {
    entered_[place.stripe] = false;
  }
}

bool TraceReplay::MayStart(const Turn& turn) const {
  return std::all_of(turn.places.begin(), turn.places.end(), [&](const Turn::Place& place) {
    const Stripe& stripe = stripes_[place.stripe];
    return turn.write ? stripe.operations_done.load(std::memory_order_acquire) == place.operations_before
                      : stripe.writes_done.load(std::memory_order_acquire) == place.writes_before;
  });
}

void TraceReplay::Done(const Turn& turn) {
  for (const Turn::Place& place : turn.places) {
    Stripe& stripe = stripes_[place.stripe];
    if (turn.write) {
      stripe.writes_done.fetch_add(1, std::memory_order_release);
    }
    stripe.operations_done.fetch_add(1, std::memory_order_release);
  }
}

}  // namespace rocktune
