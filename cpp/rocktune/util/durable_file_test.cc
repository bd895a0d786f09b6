#include "rocktune/util/durable_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/util/fake_power_cut.h"

namespace rocktune {
namespace {

class DurableFileTest : public testing::Test {
 protected:
  DurableFileTest() {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~DurableFileTest() override { std::filesystem::remove_all(directory_); }

  std::string Read() {
    std::string text;
    EXPECT_TRUE(rocksdb::ReadFileToString(env_.get(), directory_ + "/NAME", &text).ok());
    return text;
  }

  const std::string directory_ =
      testing::TempDir() + "durable-file-" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::unique_ptr<rocksdb::Env> env_ =
      rocksdb::NewCompositeEnv(std::make_shared<SyncNotingFileSystem>());
};

TEST_F(DurableFileTest, WhatIsReplacedSurvivesAPowerCut) {
  for (const std::string text : {"first", "second and longer", "3"}) {
    ASSERT_TRUE(ReplaceFile(env_.get(), directory_, "NAME", text).ok());
    SyncNotingFileSystem::CutPower(directory_);
    EXPECT_EQ(Read(), text);
  }
}

TEST_F(DurableFileTest, WhatACrashLeftIsReplacedAndDeleted) {
  ASSERT_TRUE(rocksdb::WriteStringToFile(env_.get(), "half", directory_ + "/NAME.new").ok());
  ASSERT_TRUE(ReplaceFile(env_.get(), directory_, "NAME", "whole").ok());
  EXPECT_EQ(Read(), "whole");
  ASSERT_TRUE(rocksdb::WriteStringToFile(env_.get(), "half", directory_ + "/NAME.new").ok());
  ASSERT_TRUE(DeleteReplacedFile(env_.get(), directory_, "NAME").ok());
  EXPECT_TRUE(env_->FileExists(directory_ + "/NAME").IsNotFound());
  EXPECT_TRUE(env_->FileExists(directory_ + "/NAME.new").IsNotFound());
  EXPECT_TRUE(DeleteReplacedFile(env_.get(), directory_, "NAME").ok()) << "there is none";
}

TEST_F(DurableFileTest, TheOldContentStaysIfItCannotBeReplaced) {
  ASSERT_TRUE(ReplaceFile(env_.get(), directory_, "NAME", "old").ok());
  std::filesystem::create_directory(directory_ + "/NAME.new");  // in the way of the new content
  EXPECT_FALSE(ReplaceFile(env_.get(), directory_, "NAME", "new").ok());
  EXPECT_EQ(Read(), "old");
}

}  // namespace
}  // namespace rocktune
