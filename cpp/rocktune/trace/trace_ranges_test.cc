// Range deletes that RocksDB recorded, replayed and sampled. What remains is compared with the database.

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "rocktune/trace/key_counts.h"
#include "rocktune/trace/sample_choice.h"
#include "rocktune/trace/trace_fixture.h"
#include "rocktune/trace/trace_sample.h"
#include "rocktune/workload/operation_stream.h"
#include "rocktune/workload/random.h"
#include "rocktune/workload/trace_replay.h"

namespace rocktune {
namespace {

constexpr uint64_t kKeys = 4000;

std::string KeyOf(uint64_t number) {
  std::string digits = std::to_string(number);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}

class TraceRangesTest : public TraceTest {
 protected:
  // Records puts, deletes and range deletes of `max_range_keys` keys at most. Ranges begin and end at keys,
  // between them and beyond all.
  void RecordAndImport(uint64_t max_range_keys, int operations) {
    summary_ = Import(Record([&](rocksdb::DB* database) {
      Random random(11);
      for (uint64_t key = 0; key < kKeys; ++key) {  // a key that is only in a range would have no rank
        ASSERT_TRUE(database->Put(rocksdb::WriteOptions(), KeyOf(key), "value").ok());
      }
      for (int i = 0; i < operations; ++i) {
        const uint64_t key = random.Below(kKeys);
        rocksdb::Status status;
        if (i % 50 == 0) {
          const uint64_t end = key + 1 + random.Below(max_range_keys);
          status = database->DeleteRange(rocksdb::WriteOptions(), database->DefaultColumnFamily(),
                                         KeyOf(key) + (i % 100 == 0 ? "" : "between"), KeyOf(end));
        } else if (i % 50 == 1) {
          status = database->Delete(rocksdb::WriteOptions(), KeyOf(key));
        } else {
          status = database->Put(rocksdb::WriteOptions(), KeyOf(key), "value");
        }
        ASSERT_TRUE(status.ok());
      }
      const std::unique_ptr<rocksdb::Iterator> left(database->NewIterator(rocksdb::ReadOptions()));
      for (left->SeekToFirst(); left->Valid(); left->Next()) {
        left_.insert(std::stoull(left->key().ToString().substr(3)));
      }
      ASSERT_TRUE(left->status().ok());
    }));
  }

  WorkloadSpec Spec(uint64_t scale) const {
    WorkloadSpec spec = WorkloadSpecFromJson({{"keys", kKeys},
                                              {"threads", 4},
                                              {"trace", {{"path", Path("operations")}, {"scale", scale}}},
                                              {"sessions", {{{"mix", {{"put", 1.0}}}}}}});
    ResolveTrace(&spec);
    return spec;
  }

  // Replays the trace once, with four threads, and returns the keys that remain.
  static std::set<uint64_t> Replay(const WorkloadSpec& spec, uint64_t operations) {
    WorkloadState state(spec);
    std::set<uint64_t> keys;
    std::mutex mutex;
    std::atomic<uint64_t> taken{0};
    const auto replay = [&](uint64_t thread) {
      OperationStream stream(&state, 1, thread);
      while (taken.fetch_add(1) < operations) {
        const Operation operation = stream.Next(0);
        while (!stream.MayStart()) {
          std::this_thread::yield();
        }
        {
          const std::lock_guard<std::mutex> lock(mutex);
          Apply(operation, &keys);
        }
        stream.Done();
      }
    };
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < spec.threads; ++thread) {
      threads.emplace_back(replay, thread);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return keys;
  }

  static void Apply(const Operation& operation, std::set<uint64_t>* keys) {
    if (operation.kind == OperationKind::kPut) {
      keys->insert(operation.key);
    } else if (operation.kind == OperationKind::kDelete) {
      keys->erase(operation.key);
    } else if (operation.kind == OperationKind::kDeleteRange) {
      keys->erase(keys->lower_bound(operation.key), keys->lower_bound(operation.key + operation.range_keys));
    }
  }

  TraceSummary summary_;
  std::set<uint64_t> left_;  // in the database
};

TEST_F(TraceRangesTest, AReplayLeavesTheKeysThatTheDatabaseHas) {
  RecordAndImport(200, 20'000);
  EXPECT_EQ(summary_.families.front().operations[static_cast<std::size_t>(OperationKind::kDeleteRange)],
            400U);
  EXPECT_EQ(summary_.families.front().keys, kKeys);
  EXPECT_LT(left_.size(), kKeys - 100);
  EXPECT_GT(left_.size(), 100U);
  EXPECT_EQ(Replay(Spec(1), summary_.operations), left_);
}

TEST_F(TraceRangesTest, ASampleLeavesTheSampledOnesOfThem) {
  for (const uint64_t width : {2, 200, 2000}) {
    left_.clear();
    std::filesystem::remove_all(Path("db"));
    std::filesystem::remove(SamplePath(Path("operations"), 4));
    RecordAndImport(width, 20'000);
    const TraceSummary sample = SampleTrace(Path("operations"), 4);
    ASSERT_EQ(sample.sampling->hot_keys, 0U);
    const TraceFile whole(Path("operations"));
    KeyCounts counts;
    TraceFile::Cursor cursor(whole);
    for (TraceOperation operation; cursor.Next(&operation);) {
      if (operation.kind != OperationKind::kDeleteRange) {
        counts.Add(KeyCode(0, operation.key));
      }
    }
    const SampleChoice choice(whole, 4, counts);
    std::set<uint64_t> expected;
    uint64_t rank = 0;
    for (uint64_t key = 0; key < kKeys; ++key) {
      if (choice.HasKey(KeyCode(0, key))) {
        if (left_.contains(key)) {
          expected.insert(rank);
        }
        ++rank;
      }
    }
    EXPECT_EQ(Replay(Spec(4), sample.operations), expected) << width;
  }
}

}  // namespace
}  // namespace rocktune
