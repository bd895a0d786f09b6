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
  ~DurableFileTest() override { std::filesystem::remove_all(directory_); }

  std::string Read() {
    std::string text;
    EXPECT_TRUE(rocksdb::ReadFileToString(env_.get(), directory_ + "/NAME", &text).ok());
    return text;
  }

  static std::string NewDirectory() {
    std::string pattern = testing::TempDir() + "durable-file-XXXXXX";
    return mkdtemp(pattern.data());
  }

  const std::string directory_ = NewDirectory();
  const std::unique_ptr<rocksdb::Env> env_ =
      rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
};

TEST_F(DurableFileTest, ReplacedContentSurvivesAPowerCut) {
  for (const std::string text : {"first", "second and longer", "3"}) {
    ASSERT_TRUE(ReplaceFile(env_.get(), directory_, "NAME", text).ok());
    SyncTrackingFileSystem::CutPower(directory_);
    EXPECT_EQ(Read(), text);
  }
}

TEST_F(DurableFileTest, LeftoverOfACrashIsReplacedAndDeleted) {
  ASSERT_TRUE(rocksdb::WriteStringToFile(env_.get(), "half", directory_ + "/NAME.new").ok());
  ASSERT_TRUE(ReplaceFile(env_.get(), directory_, "NAME", "whole").ok());
  EXPECT_EQ(Read(), "whole");
  ASSERT_TRUE(rocksdb::WriteStringToFile(env_.get(), "half", directory_ + "/NAME.new").ok());
  ASSERT_TRUE(DeleteReplacedFile(env_.get(), directory_, "NAME").ok());
  EXPECT_TRUE(env_->FileExists(directory_ + "/NAME").IsNotFound());
  EXPECT_TRUE(env_->FileExists(directory_ + "/NAME.new").IsNotFound());
  EXPECT_TRUE(DeleteReplacedFile(env_.get(), directory_, "NAME").ok()) << "no file exists";
}

TEST_F(DurableFileTest, FailedReplacementKeepsTheOldContent) {
  ASSERT_TRUE(ReplaceFile(env_.get(), directory_, "NAME", "old").ok());
  std::filesystem::create_directory(directory_ + "/NAME.new");  // blocks the write of the new content
  EXPECT_FALSE(ReplaceFile(env_.get(), directory_, "NAME", "new").ok());
  EXPECT_EQ(Read(), "old");
}

}  // namespace
}  // namespace rocktune
