#include "rocktune/workload/operation_stream.h"

#include <algorithm>
#include <vector>

#include "rocktune/workload/arrival.h"
#include "rocktune/workload/key_chooser.h"
#include "rocktune/workload/random.h"
#include "rocktune/workload/session_clock.h"
#include "rocktune/workload/size_source.h"
#include "rocktune/workload/trace_replay.h"

namespace rocktune {

namespace {

constexpr uint64_t kAbsentBit = uint64_t{1} << 63;
constexpr const char* kOldest = "oldest";

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

// The distributions of a LoadSpec.
struct LoadTables {
  std::shared_ptr<const KeyChooser> keys;  // nullptr for the keys of a queue
  SizeSource values;
  SizeSource scan_lengths;
  SizeSource delete_range_keys;
};

struct WorkloadState::Tables {
  explicit Tables(const WorkloadSpec& spec) : arrivals(Arrivals(spec.sessions)) {
    for (const SessionSpec& session : spec.sessions) {
      std::vector<LoadTables>& of_session = loads.emplace_back();
      for (std::size_t family = 0; family < spec.families.size(); ++family) {
        const LoadSpec& load = session.loads[family];
        of_session.push_back({KeysOf(spec, family, load.key_chooser), SizeSource(load.value),
                              SizeSource(load.scan_length), SizeSource(load.delete_range_keys)});
      }
    }
  }

  std::vector<std::vector<LoadTables>> loads;  // by session and family
  std::vector<Arrival> arrivals;               // by session

 private:
  // Returns the chooser of an earlier session of the family with the same spec, since some choosers have
  // large tables, or a new one.
  std::shared_ptr<const KeyChooser> KeysOf(const WorkloadSpec& spec, std::size_t family,
                                           const KeyChooserSpec& chooser) const {
    if (chooser.kind == kOldest) {
      return nullptr;
    }
    for (std::size_t session = 0; session + 1 < loads.size(); ++session) {
      if (spec.sessions[session].loads[family].key_chooser == chooser) {
        return loads[session][family].keys;
      }
    }
    return NewKeyChooser(chooser, spec.families[family].keys);
  }
};

WorkloadState::WorkloadState(const WorkloadSpec& spec)
    : spec_(spec),
      key_counts_(spec.families.size()),
      oldest_keys_(spec.families.size()),
      tables_(std::make_unique<const Tables>(spec_)) {
  for (std::size_t family = 0; family < spec_.families.size(); ++family) {
    key_counts_[family] = spec_.families[family].keys;
  }
  if (!spec_.trace.path.empty()) {
    replay_ = std::make_unique<TraceReplay>(spec_, tables_->arrivals);
  }
}

WorkloadState::~WorkloadState() = default;

uint64_t WorkloadState::NextRemovals(std::size_t family, uint64_t* keys) {
  const uint64_t wanted = *keys;
  uint64_t key = oldest_key(family);
  do {
    const uint64_t end = key_count(family);
    if (key >= end) {
      *keys = 1;
      return key;
    }
    *keys = std::min(wanted, end - key);
  } while (!oldest_keys_[family].compare_exchange_weak(key, key + *keys, std::memory_order_relaxed));
  return key;
}

struct OperationStream::Impl {
  Impl(WorkloadState* shared, uint64_t seed, uint64_t thread)
      : state(shared),
        random(ThreadSeed(seed, thread)),
        clock(shared->spec().sessions, shared->tables().arrivals, thread, shared->spec().threads) {}

  // Draws a kind of operation by the shares in `mix`.
  OperationKind DrawKind(const OperationMix& mix) {
    return static_cast<OperationKind>(DrawIndex(mix.size(), [&](std::size_t i) { return mix[i]; }));
  }

  // Draws a column family by the shares of the session's loads.
  std::size_t DrawFamily(const std::vector<LoadSpec>& loads) {
    // A workload on one family uses no random number for it, so that its operations are those of older
    // releases.
    return loads.size() == 1 ? 0 : DrawIndex(loads.size(), [&](std::size_t i) { return loads[i].share; });
  }

  // Draws an index below `size` with the probability `share_of(index)`.
  template <typename ShareOf>
  std::size_t DrawIndex(std::size_t size, ShareOf share_of) {
    const double u = random.NextDouble();
    double sum = 0;
    std::size_t last = 0;  // rounding may leave the shares' sum just below 1, and u above it
    for (std::size_t i = 0; i < size; ++i) {
      if (share_of(i) > 0) {
        last = i;
        sum += share_of(i);
        if (u < sum) {
          break;
        }
      }
    }
    return last;
  }

  WorkloadState* const state;
  Random random;
  SessionClock clock;
  TraceReplay::Turn turn;  // of the present operation of a trace
};

OperationStream::OperationStream(WorkloadState* state, uint64_t seed, uint64_t thread)
    : impl_(std::make_unique<Impl>(state, seed, thread)) {}

OperationStream::~OperationStream() = default;

Operation OperationStream::Next(int64_t now_ns) {
  if (TraceReplay* replay = impl_->state->replay()) {
    return replay->Take(now_ns, &impl_->turn);
  }
  const SessionClock::Start start = impl_->clock.Next(now_ns);
  WorkloadState& state = *impl_->state;
  const std::vector<LoadSpec>& loads = state.spec().sessions[start.session].loads;
  const std::size_t family = impl_->DrawFamily(loads);
  const LoadTables& tables = state.tables().loads[start.session][family];
  Operation operation{impl_->DrawKind(loads[family].mix), family, 0, 0, 0, 0, start.intended_ns};
  const bool queue = tables.keys == nullptr;
  const auto draw_key = [&] {
    return queue ? state.oldest_key(family) : tables.keys->Next(&impl_->random, state.key_count(family));
  };
  switch (operation.kind) {
    case OperationKind::kGet:
      operation.key = draw_key();
      break;
    case OperationKind::kDelete:
      operation.key = queue ? state.NextRemoval(family) : draw_key();
      break;
    case OperationKind::kGetAbsent:
      operation.key = draw_key() | kAbsentBit;
      break;
    case OperationKind::kScan:
      // Consumers do not know the oldest key: they look for it from the beginning, past what was deleted.
      operation.key = queue ? 0 : draw_key();
      operation.scan_length = tables.scan_lengths.Next(&impl_->random);
      break;
    case OperationKind::kPut:
    case OperationKind::kReadModifyWrite:
      operation.key = draw_key();
      operation.value_bytes = tables.values.Next(&impl_->random);
      break;
    case OperationKind::kInsert:
      operation.key = state.NextInsert(family);
      operation.value_bytes = tables.values.Next(&impl_->random);
      break;
    case OperationKind::kDeleteRange:
      operation.range_keys = tables.delete_range_keys.Next(&impl_->random);
      if (queue) {
        operation.key = state.NextRemovals(family, &operation.range_keys);
      } else {
        operation.key = draw_key();
        operation.range_keys = std::min(operation.range_keys, state.key_count(family) - operation.key);
      }
      break;
  }
  return operation;
}

bool OperationStream::MayStart() const {
  const TraceReplay* replay = impl_->state->replay();
  return replay == nullptr || replay->MayStart(impl_->turn);
}

void OperationStream::Done() {
  if (TraceReplay* replay = impl_->state->replay()) {
    replay->Done(impl_->turn);
  }
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
