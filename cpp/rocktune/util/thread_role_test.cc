#include "rocktune/util/thread_role.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <memory>
#include <string>
#include <thread>

namespace rocktune {
namespace {

class ThreadRoleListenerTest : public testing::Test {
 protected:
  void FlushStarts() {
    rocksdb::TableFileCreationBriefInfo info;
    info.reason = rocksdb::TableFileCreationReason::kFlush;
    listener_->OnTableFileCreationStarted(info);
  }
  void FlushEnds() {
    rocksdb::TableFileCreationInfo info;
    info.reason = rocksdb::TableFileCreationReason::kFlush;
    listener_->OnTableFileCreated(info);
    info.status.PermitUncheckedError();
  }
  void CompactionStarts() { listener_->OnSubcompactionBegin(rocksdb::SubcompactionJobInfo()); }
  void CompactionEnds() { listener_->OnSubcompactionCompleted(rocksdb::SubcompactionJobInfo()); }
  void CompactionOpensOutput() {
    rocksdb::TableFileCreationBriefInfo info;
    info.reason = rocksdb::TableFileCreationReason::kCompaction;
    listener_->OnTableFileCreationStarted(info);
  }

  std::shared_ptr<rocksdb::EventListener> listener_ = NewThreadRoleListener();
};

TEST(ScopedThreadRoleTest, NestsAndAppliesToOneThread) {
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kOther);
  {
    ScopedThreadRole user(ThreadRole::kUser);
    EXPECT_EQ(CurrentThreadRole(), ThreadRole::kUser);
    {
      ScopedThreadRole compaction(ThreadRole::kCompaction);
      EXPECT_EQ(CurrentThreadRole(), ThreadRole::kCompaction);
    }
    EXPECT_EQ(CurrentThreadRole(), ThreadRole::kUser);
    std::thread([] { EXPECT_EQ(CurrentThreadRole(), ThreadRole::kOther); }).join();
  }
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kOther);
}

TEST_F(ThreadRoleListenerTest, SetsTheRoleOfFlushesAndCompactions) {
  FlushStarts();
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kFlush);
  FlushEnds();
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kOther);

  CompactionStarts();
  CompactionOpensOutput();
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kCompaction);
  CompactionEnds();
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kOther);
}

TEST_F(ThreadRoleListenerTest, OwnRoleAppliesAgainAfterACompaction) {
  ScopedThreadRole user(ThreadRole::kUser);
  CompactionStarts();
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kCompaction);
  CompactionEnds();
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kUser);
}

TEST_F(ThreadRoleListenerTest, AnUnreportedEndDoesNotAffectTheNextJob) {
  CompactionStarts();
  FlushStarts();
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kFlush);
  FlushEnds();
  CompactionStarts();
  {
    ScopedThreadRole user(ThreadRole::kUser);
    EXPECT_EQ(CurrentThreadRole(), ThreadRole::kUser);
  }
  EXPECT_EQ(CurrentThreadRole(), ThreadRole::kOther);
}

TEST(IoCauseTest, NamesAreIndexedByCause) {
  EXPECT_EQ(kIoCauseNames.size(), kIoCauseCount);
  EXPECT_STREQ(kIoCauseNames[static_cast<std::size_t>(IoCause::kWal)], "wal");
  EXPECT_STREQ(kIoCauseNames[static_cast<std::size_t>(IoCause::kCompactionWrite)], "compaction_write");
  EXPECT_STREQ(kIoCauseNames[static_cast<std::size_t>(IoCause::kOther)], "other");
}

}  // namespace
}  // namespace rocktune
