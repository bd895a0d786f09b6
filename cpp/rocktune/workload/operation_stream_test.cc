#include "rocktune/workload/operation_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace rocktune {
namespace {

double& ShareOf(OperationMix& mix, OperationKind kind) { return mix[static_cast<std::size_t>(kind)]; }

WorkloadSpec Spec() {
  WorkloadSpec spec;
  spec.name = "test";
  spec.families = {{.keys = 10'000}};
  spec.threads = 4;
  LoadSpec load;
  load.key_chooser.kind = "scrambled_zipfian";
  load.key_chooser.skew = 0.9;
  load.value = {.kind = "uniform", .low = 10, .high = 50};
  load.scan_length = {.kind = "uniform", .low = 1, .high = 5};
  ShareOf(load.mix, OperationKind::kGet) = 0.3;
  ShareOf(load.mix, OperationKind::kGetAbsent) = 0.1;
  ShareOf(load.mix, OperationKind::kPut) = 0.2;
  ShareOf(load.mix, OperationKind::kInsert) = 0.1;
  ShareOf(load.mix, OperationKind::kDelete) = 0.05;
  ShareOf(load.mix, OperationKind::kScan) = 0.05;
  ShareOf(load.mix, OperationKind::kReadModifyWrite) = 0.2;
  SessionSpec session;
  session.loads = {load};
  spec.sessions = {session};
  return spec;
}

std::vector<Operation> Operations(const WorkloadSpec& spec, uint64_t seed, uint64_t thread, int count) {
  WorkloadState state(spec);
  OperationStream stream(&state, seed, thread);
  std::vector<Operation> operations;
  operations.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    operations.push_back(stream.Next(0));
  }
  return operations;
}

bool Same(const Operation& a, const Operation& b) {
  return a.kind == b.kind && a.family == b.family && a.key == b.key && a.scan_length == b.scan_length &&
         a.value_bytes == b.value_bytes && a.intended_start_ns == b.intended_start_ns;
}

int CountSame(const std::vector<Operation>& first, const std::vector<Operation>& second) {
  int same = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    same += Same(first[i], second[i]);
  }
  return same;
}

TEST(OperationStreamTest, EqualSeedsAndThreadsGiveEqualOperations) {
  EXPECT_EQ(CountSame(Operations(Spec(), 1, 2, 10'000), Operations(Spec(), 1, 2, 10'000)), 10'000);
}

TEST(OperationStreamTest, SeedsAndThreadsDiffer) {
  const std::vector<Operation> operations = Operations(Spec(), 1, 2, 10'000);
  EXPECT_LT(CountSame(operations, Operations(Spec(), 1, 3, 10'000)), 200);
  EXPECT_LT(CountSame(operations, Operations(Spec(), 2, 2, 10'000)), 200);
}

TEST(OperationStreamTest, TheSequenceIsTheRecordedOne) {
  // Recorded once. If it changes, new measurements are not comparable with those in recorded studies.
  const std::vector<Operation> operations = Operations(Spec(), 42, 0, 4);
  std::string keys;
  for (const Operation& operation : operations) {
    keys += kOperationKindNames[static_cast<std::size_t>(operation.kind)];
    keys += ":" + std::to_string(operation.key) + " ";
  }
  EXPECT_EQ(keys, "get:7344 read_modify_write:2077 get_absent:9223372036854782195 read_modify_write:8751 ");
}

TEST(OperationStreamTest, KindsFollowTheMix) {
  constexpr int kCount = 500'000;
  std::array<double, kOperationKindCount> shares{};
  for (const Operation& operation : Operations(Spec(), 1, 0, kCount)) {
    shares[static_cast<std::size_t>(operation.kind)] += 1.0 / kCount;
  }
  const WorkloadSpec spec = Spec();
  for (std::size_t kind = 0; kind < kOperationKindCount; ++kind) {
    EXPECT_NEAR(shares[kind], spec.sessions[0].loads[0].mix[kind], 0.003) << kOperationKindNames[kind];
  }
}

TEST(OperationStreamTest, SetsTheFieldsOfEachKind) {
  const WorkloadSpec spec = Spec();
  uint64_t inserts = 0;
  for (const Operation& operation : Operations(spec, 1, 0, 10'000)) {
    EXPECT_EQ(operation.intended_start_ns, -1);
    const bool writes = operation.kind == OperationKind::kPut || operation.kind == OperationKind::kInsert ||
                        operation.kind == OperationKind::kReadModifyWrite;
    EXPECT_EQ(operation.value_bytes >= 10 && operation.value_bytes <= 50, writes);
    EXPECT_EQ(operation.scan_length >= 1, operation.kind == OperationKind::kScan);
    if (operation.kind == OperationKind::kInsert) {
      EXPECT_EQ(operation.key, spec.families[0].keys + inserts++);
    } else if (operation.kind == OperationKind::kGetAbsent) {
      EXPECT_LT(operation.key - (uint64_t{1} << 63), spec.families[0].keys);
    } else {
      EXPECT_LT(operation.key, spec.families[0].keys);
    }
  }
  EXPECT_GT(inserts, 0U);
}

// A queue of 100 keys with deletes and one other kind of operation in equal shares.
WorkloadSpec Queue(OperationKind other) {
  WorkloadSpec spec = Spec();
  spec.families[0].keys = 100;
  LoadSpec& load = spec.sessions[0].loads[0];
  load.key_chooser = {.kind = "oldest"};
  load.mix = {};
  ShareOf(load.mix, OperationKind::kDelete) = 0.5;
  ShareOf(load.mix, other) = 0.5;
  return spec;
}

TEST(OperationStreamTest, AQueueRemovesItsKeysInOrderOnceByAllThreads) {
  WorkloadState state(Queue(OperationKind::kGet));
  OperationStream first(&state, 1, 0), second(&state, 1, 1);
  uint64_t removed = 0;
  for (int i = 0; i < 60; ++i) {
    for (OperationStream* stream : {&first, &second}) {
      const Operation operation = stream->Next(0);
      EXPECT_EQ(operation.key, removed);  // gets access the oldest key
      removed += operation.kind == OperationKind::kDelete ? 1 : 0;
      EXPECT_EQ(state.oldest_key(0), removed);
    }
  }
  EXPECT_GT(removed, 40U);
}

TEST(OperationStreamTest, ScansOfAQueueBeginBeforeItsOldestKey) {
  WorkloadState state(Queue(OperationKind::kScan));
  OperationStream stream(&state, 1, 0);
  for (int i = 0; i < 100; ++i) {
    const Operation operation = stream.Next(0);
    if (operation.kind == OperationKind::kScan) {
      EXPECT_EQ(operation.key, 0U);
    }
  }
  EXPECT_GT(state.oldest_key(0), 0U);
}

TEST(OperationStreamTest, RangesToDeleteLieInTheKeySpace) {
  WorkloadSpec spec = Spec();
  LoadSpec& load = spec.sessions[0].loads[0];
  load.key_chooser = {.kind = "uniform"};
  load.mix = {};
  ShareOf(load.mix, OperationKind::kDeleteRange) = 0.5;
  ShareOf(load.mix, OperationKind::kPut) = 0.5;
  load.delete_range_keys = {.kind = "uniform", .low = 2'000, .high = 3'000};
  int whole = 0, cut = 0;
  for (const Operation& operation : Operations(spec, 1, 0, 1'000)) {
    if (operation.kind != OperationKind::kDeleteRange) {
      EXPECT_EQ(operation.range_keys, 0U);
      continue;
    }
    EXPECT_LE(operation.key + operation.range_keys, 10'000U);
    EXPECT_LE(operation.range_keys, 3'000U);
    ++(operation.range_keys < 2'000 ? cut : whole);
    EXPECT_TRUE(operation.range_keys >= 2'000 || operation.key + operation.range_keys == 10'000);
  }
  EXPECT_GT(whole, 200);
  EXPECT_GT(cut, 20);
}

TEST(OperationStreamTest, RangesOfAQueueAreItsOldestKeys) {
  WorkloadSpec spec = Queue(OperationKind::kDeleteRange);
  spec.sessions[0].loads[0].delete_range_keys = {.kind = "fixed", .low = 7};
  WorkloadState state(spec);
  OperationStream stream(&state, 1, 0);
  uint64_t removed = 0;
  for (int i = 0; i < 60; ++i) {
    const Operation operation = stream.Next(0);
    EXPECT_EQ(operation.key, removed);
    if (operation.kind == OperationKind::kDeleteRange) {
      // An empty queue deletes a range of one key that does not exist.
      EXPECT_EQ(operation.range_keys, removed == 100 ? 1 : std::min<uint64_t>(7, 100 - removed));
    }
    removed = std::min<uint64_t>(100, removed + std::max<uint64_t>(1, operation.range_keys));
    EXPECT_EQ(state.oldest_key(0), removed);
  }
  EXPECT_EQ(removed, 100U);
}

TEST(OperationStreamTest, AnEmptyQueueRemovesNothing) {
  WorkloadState state(Queue(OperationKind::kInsert));
  for (uint64_t key = 0; key < 100; ++key) {
    EXPECT_EQ(state.NextRemoval(0), key);
  }
  EXPECT_EQ(state.NextRemoval(0), 100U);
  EXPECT_EQ(state.NextRemoval(0), 100U);
  EXPECT_EQ(state.NextInsert(0), 100U);
  EXPECT_EQ(state.NextRemoval(0), 100U);
  EXPECT_EQ(state.oldest_key(0), 101U);
}

TEST(OperationStreamTest, ThreadsNeverInsertTheSameKey) {
  WorkloadSpec spec = Spec();
  spec.sessions[0].loads[0].mix = {};
  ShareOf(spec.sessions[0].loads[0].mix, OperationKind::kInsert) = 1;
  WorkloadState state(spec);
  OperationStream first(&state, 1, 0), second(&state, 1, 1);
  std::set<uint64_t> keys;
  for (int i = 0; i < 1000; ++i) {
    keys.insert(first.Next(0).key);
    keys.insert(second.Next(0).key);
  }
  EXPECT_EQ(keys.size(), 2000U);
  EXPECT_EQ(*keys.begin(), spec.families[0].keys);
  EXPECT_EQ(state.key_count(0), spec.families[0].keys + 2000);
}

TEST(OperationStreamTest, LatestReadsInsertedKeys) {
  WorkloadSpec spec = Spec();
  spec.sessions[0].loads[0].key_chooser.kind = "latest";
  spec.sessions[0].loads[0].mix = {};
  ShareOf(spec.sessions[0].loads[0].mix, OperationKind::kGet) = 1;
  WorkloadState state(spec);
  for (int i = 0; i < 5000; ++i) {
    state.NextInsert(0);
  }
  OperationStream stream(&state, 1, 0);
  int newer = 0;
  for (int i = 0; i < 1000; ++i) {
    newer += stream.Next(0).key >= spec.families[0].keys;
  }
  EXPECT_GT(newer, 800);
}

// A second family of another size, with a quarter of the operations, which are writes of large values.
WorkloadSpec TwoFamilies() {
  WorkloadSpec spec = Spec();
  spec.families.push_back({.name = "large", .keys = 100, .value = {}});
  LoadSpec large;
  large.share = 0.25;
  ShareOf(large.mix, OperationKind::kPut) = 0.5;
  ShareOf(large.mix, OperationKind::kInsert) = 0.5;
  large.value = {.kind = "fixed", .low = 5000};
  spec.sessions[0].loads[0].share = 0.75;
  spec.sessions[0].loads.push_back(large);
  return spec;
}

TEST(OperationStreamTest, EachFamilyHasItsShareAndItsOwnLoad) {
  constexpr int kCount = 100'000;
  int of_large = 0;
  uint64_t inserts = 0;
  for (const Operation& operation : Operations(TwoFamilies(), 1, 0, kCount)) {
    if (operation.family == 0) {
      EXPECT_LE(operation.value_bytes, 50U);
      continue;
    }
    ++of_large;
    EXPECT_EQ(operation.value_bytes, 5000U);
    if (operation.kind == OperationKind::kInsert) {
      EXPECT_EQ(operation.key, 100 + inserts++);  // not counted with the other family's
    } else {
      EXPECT_EQ(operation.kind, OperationKind::kPut);
      EXPECT_LT(operation.key, 100U);
    }
  }
  EXPECT_NEAR(of_large / double{kCount}, 0.25, 0.01);
}

TEST(OperationStreamTest, SessionsMayChangeSharesKeysAndSizes) {
  WorkloadSpec spec = TwoFamilies();
  spec.sessions[0].seconds = 1;
  SessionSpec second = spec.sessions[0];
  second.loads[0].share = 0;
  second.loads[1].share = 1;
  second.loads[1].value.low = 7;
  second.loads[1].key_chooser = {.kind = "hotspot", .hot_key_share = 0.01, .hot_operation_share = 1};
  spec.sessions.push_back(second);
  WorkloadState state(spec);
  OperationStream stream(&state, 1, 0);
  for (int i = 0; i < 100; ++i) {
    stream.Next(0);
  }
  for (int i = 0; i < 1000; ++i) {
    const Operation operation = stream.Next(1'500'000'000);
    EXPECT_EQ(operation.family, 1U);
    EXPECT_EQ(operation.value_bytes, 7U);
    EXPECT_TRUE(operation.kind == OperationKind::kInsert || operation.key == 0) << operation.key;
  }
}

TEST(EncodeKeyTest, IsBigEndianAndPaddedWithZeros) {
  std::string key;
  EncodeKey(0x0102030405060708, 12, &key);
  EXPECT_EQ(key, std::string("\x01\x02\x03\x04\x05\x06\x07\x08"
                             "0000"));
  EXPECT_EQ(DecodeKey(key.data()), 0x0102030405060708U);
  EncodeKey(7, 8, &key);
  EXPECT_EQ(key, std::string("\0\0\0\0\0\0\0\x07", 8));
}

TEST(EncodeKeyTest, AbsentKeysLieBetweenExistingKeys) {
  std::string before, absent, after;
  EncodeKey(41, 16, &before);
  EncodeKey(41 | uint64_t{1} << 63, 16, &absent);
  EncodeKey(42, 16, &after);
  EXPECT_LT(before, absent);
  EXPECT_LT(absent, after);
}

TEST(EncodeKeyTest, UnpaddedAbsentKeysLieAfterAllOthers) {
  std::string absent, last;
  EncodeKey(41 | uint64_t{1} << 63, 8, &absent);
  EncodeKey((uint64_t{1} << 62) - 1, 8, &last);
  EXPECT_GT(absent, last);
}

TEST(ValueSourceTest, EqualSeedsAndPositionsGiveEqualBytes) {
  const ValueSource first(3, 0.5, 1024), second(3, 0.5, 1024), other(4, 0.5, 1024);
  EXPECT_EQ(std::string(first.Slice(99, 1024), 1024), std::string(second.Slice(99, 1024), 1024));
  EXPECT_NE(std::string(first.Slice(99, 1024), 1024), std::string(first.Slice(100, 1024), 1024));
  EXPECT_NE(std::string(first.Slice(99, 1024), 1024), std::string(other.Slice(99, 1024), 1024));
}

TEST(ValueSourceTest, EachPieceRepeatsItsRandomPrefix) {
  // The buffer has 1 MiB more than the largest slice.
  const ValueSource source(3, 0.25, 16 << 20);
  const std::string value(source.Slice(0, 16 << 20), 16 << 20);
  // At a fraction of 1/4, bytes at a distance of 25 are equal unless a new piece of 100 bytes begins between
  // them: 75% of them, and one in 95 of the rest by chance.
  std::size_t equal = 0;
  for (std::size_t i = 25; i < value.size(); ++i) {
    equal += value[i] == value[i - 25];
  }
  EXPECT_NEAR(static_cast<double>(equal) / static_cast<double>(value.size()), 0.75 + 0.25 / 95, 0.002);
}

}  // namespace
}  // namespace rocktune
