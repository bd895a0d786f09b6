#include "rocktune/workload/operation_stream.h"

#include <algorithm>
#include <vector>

#include "rocktune/workload/arrival.h"
#include "rocktune/workload/key_chooser.h"
#include "rocktune/workload/random.h"
#include "rocktune/workload/session_clock.h"
#include "rocktune/workload/size_source.h"

namespace rocktune {

namespace {

constexpr uint64_t kAbsentBit = uint64_t{1} << 63;

std::vector<Arrival> Arrivals(const std::vector<SessionSpec>& sessions) {
  std::vector<Arrival> arrivals;
  arrivals.reserve(sessions.size());
  for (const SessionSpec& session : sessions) {
    arrivals.emplace_back(session.arrival);
  }
  return arrivals;
}

// Mixes both, so that thread 1 of seed 7 has another sequence than thread 0 of seed 8.
uint64_t ThreadSeed(uint64_t seed, uint64_t thread) { return Mix64(Mix64(seed) + thread); }

}  // namespace

struct WorkloadState::Tables {
  explicit Tables(const WorkloadSpec& spec)
      : keys(NewKeyChooser(spec.key_chooser, spec.keys)),
        values(spec.value),
        scan_lengths(spec.scan_length),
        arrivals(Arrivals(spec.sessions)) {}

  std::unique_ptr<const KeyChooser> keys;
  SizeSource values;
  SizeSource scan_lengths;
  std::vector<Arrival> arrivals;  // by session
};

WorkloadState::WorkloadState(const WorkloadSpec& spec)
    : spec_(spec), key_count_(spec.keys), tables_(std::make_unique<const Tables>(spec_)) {}

WorkloadState::~WorkloadState() = default;

struct OperationStream::Impl {
  Impl(WorkloadState* shared, uint64_t seed, uint64_t thread)
      : state(shared),
        random(ThreadSeed(seed, thread)),
        clock(shared->spec().sessions, shared->tables().arrivals, thread, shared->spec().threads) {}

  // Draws a kind of operation by the shares in `mix`.
  OperationKind DrawKind(const OperationMix& mix) {
    const double u = random.NextDouble();
    double sum = 0;
    std::size_t last = 0;  // rounding may leave the shares' sum just below 1, and u above it
    for (std::size_t kind = 0; kind < mix.size(); ++kind) {
      if (mix[kind] > 0) {
        last = kind;
        sum += mix[kind];
        if (u < sum) {
          break;
        }
      }
    }
    return static_cast<OperationKind>(last);
  }

  uint64_t DrawKey() { return state->tables().keys->Next(&random, state->key_count()); }

  WorkloadState* const state;
  Random random;
  SessionClock clock;
};

OperationStream::OperationStream(WorkloadState* state, uint64_t seed, uint64_t thread)
    : impl_(std::make_unique<Impl>(state, seed, thread)) {}

OperationStream::~OperationStream() = default;

Operation OperationStream::Next(int64_t now_ns) {
  const SessionClock::Start start = impl_->clock.Next(now_ns);
  const WorkloadState::Tables& tables = impl_->state->tables();
  Operation operation{impl_->DrawKind(impl_->state->spec().sessions[start.session].mix), 0, 0, 0,
                      start.intended_ns};
  switch (operation.kind) {
    case OperationKind::kGet:
    case OperationKind::kDelete:
      operation.key = impl_->DrawKey();
      break;
    case OperationKind::kGetAbsent:
      operation.key = impl_->DrawKey() | kAbsentBit;
      break;
    case OperationKind::kScan:
      operation.key = impl_->DrawKey();
      operation.scan_length = tables.scan_lengths.Next(&impl_->random);
      break;
    case OperationKind::kPut:
    case OperationKind::kReadModifyWrite:
      operation.key = impl_->DrawKey();
      operation.value_bytes = tables.values.Next(&impl_->random);
      break;
    case OperationKind::kInsert:
      operation.key = impl_->state->NextInsert();
      operation.value_bytes = tables.values.Next(&impl_->random);
      break;
  }
  return operation;
}

void EncodeKey(uint64_t index, uint64_t key_bytes, std::string* key) {
  constexpr std::size_t kIndexBytes = 8;
  const bool absent_between = (index & kAbsentBit) != 0 && key_bytes > kIndexBytes;
  key->assign(key_bytes, absent_between ? '1' : '0');
  const uint64_t number = absent_between ? index & ~kAbsentBit : index;
  for (std::size_t i = 0; i < kIndexBytes; ++i) {
    (*key)[i] = static_cast<char>(number >> (8 * (kIndexBytes - 1 - i)));
  }
}

uint64_t DecodeKey(const char* key) {
  uint64_t index = 0;
  for (int i = 0; i < 8; ++i) {
    index = index << 8 | static_cast<unsigned char>(key[i]);
  }
  return index;
}

}  // namespace rocktune
