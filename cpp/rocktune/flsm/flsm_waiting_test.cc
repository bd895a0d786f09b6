// WaitUntilSettled returns when compactions fail and when the store is closed.

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "rocktune/flsm/fake_flsm_store.h"
#include "rocktune/util/fake_failing_disk.h"

namespace rocktune {
namespace {

struct Fault {
  const char* name;
  rocksdb::IOStatus error;
  const char* files;
  bool recovers;  // true if RocksDB recovers without being reopened
};

class FlsmWaitingTest : public FlsmStoreTest, public testing::WithParamInterface<Fault> {
 protected:
  ~FlsmWaitingTest() override { store_.reset(); }  // before its environment

  const std::shared_ptr<FailingFileSystem> disk_ =
      std::make_shared<FailingFileSystem>(GetParam().error, GetParam().files);
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(disk_);
};

TEST_P(FlsmWaitingTest, ReturnsTheErrorWhileCompactionsFail) {
  rocksdb::Options options = SmallOptions();
  options.env = env_.get();
  ASSERT_TRUE(FlsmStore::Open(options, Layout({4}), directory_, &store_).ok());
  FlushToLevel0();
  disk_->fails = true;
  MakeCompactionsDue();
  for (int time = 0; time < 3; ++time) {  // from the second time on, RocksDB has a background error
    const rocksdb::Status status = store_->WaitUntilSettled();
    ASSERT_FALSE(status.ok()) << ToText(store_->Shape());
    EXPECT_FALSE(store_->LastFailure().ok());
  }
  disk_->fails = false;
  if (GetParam().recovers) {
    rocksdb::Status status = store_->Resume();
    // RocksDB recovers by itself after a while, or in Resume.
    for (int attempt = 0; attempt < 1000 && !status.ok(); ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      status = store_->Resume();
    }
    ASSERT_TRUE(status.ok()) << status.ToString();
    while (!store_->WaitUntilSettled().ok()) {  // a compaction may have been failing at the time of Resume
    }
  } else {
    store_.reset();
    ASSERT_TRUE(FlsmStore::Open(options, Layout({4}), directory_, &store_).ok());
    ASSERT_TRUE(store_->WaitUntilSettled().ok());
  }
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  ExpectShapeMatchesRocksDb();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FlsmWaitingTest,
    testing::Values(Fault{"FullDisk", rocksdb::IOStatus::NoSpace("the disk is full"), ".sst", true},
                    Fault{"Tables", rocksdb::IOStatus::IOError("the disk is broken"), ".sst", false},
                    Fault{"Manifest", rocksdb::IOStatus::IOError("the disk is broken"), "MANIFEST", false}),
    [](const testing::TestParamInfo<Fault>& each) { return each.param.name; });

TEST_F(FlsmStoreTest, WaitUntilSettledReturnsWhenTheStoreIsClosed) {
  FillAndSettle(2000);
  ASSERT_TRUE(store_->PauseBackgroundWork().ok());  // so that compactions stay due
  MakeCompactionsDue();
  auto waited = std::async(std::launch::async, [this] { return store_->WaitUntilSettled(); });
  EXPECT_TRUE(store_->Close().ok());
  EXPECT_TRUE(waited.get().IsShutdownInProgress());
}

TEST_F(FlsmStoreTest, WaitUntilSettledContinuesAfterAnAbortedClose) {
  FillAndSettle(2000);
  const rocksdb::Snapshot* snapshot = store_->GetSnapshot();
  ASSERT_TRUE(store_->PauseBackgroundWork().ok());
  MakeCompactionsDue();
  auto waited = std::async(std::launch::async, [this] { return store_->WaitUntilSettled(); });
  EXPECT_TRUE(store_->Close().IsAborted());
  ASSERT_TRUE(store_->ContinueBackgroundWork().ok());
  EXPECT_TRUE(waited.get().ok());
  store_->ReleaseSnapshot(snapshot);
}

}  // namespace
}  // namespace rocktune
