// Failures of a run: operations, background errors and preloads that fail, and calls that are refused.

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "rocktune/runner/run_error.h"
#include "rocktune/runner/runner_fixture.h"

namespace rocktune {
namespace {

class RunnerFailureTest : public RunnerTest {};

TEST_F(RunnerFailureTest, AFailedOperationEndsTheRun) {
  std::atomic<int> calls{0};
  store_.before_operation = [&] {
    return ++calls < 10 ? rocksdb::Status::OK() : rocksdb::Status::IOError("broken");
  };
  Start();
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      runner_->Advance({3600}, NoProgress);
      FAIL() << "no exception was thrown";
    } catch (const RunError& error) {
      EXPECT_EQ(error.failure(), RunFailure::kCrashed);
      EXPECT_NE(std::string(error.what()).find("broken"), std::string::npos);
    }
  }
}

TEST_F(RunnerFailureTest, NoSpaceIsOutOfDisk) {
  store_.before_operation = [] { return rocksdb::Status::NoSpace("full"); };
  Start();
  try {
    runner_->Advance({3600}, NoProgress);
    FAIL() << "no exception was thrown";
  } catch (const RunError& error) {
    EXPECT_EQ(error.failure(), RunFailure::kOutOfDisk);
  }
}

TEST_F(RunnerFailureTest, AFailureBetweenWindowsEndsTheNextOne) {
  Start();
  runner_->Advance({0.01}, NoProgress);
  runner_->Fail(rocksdb::Status::Corruption("background"));
  EXPECT_THROW(runner_->Advance({0.02}, NoProgress), RunError);
}

TEST_F(RunnerFailureTest, RefusesAnEndBeforeTheAge) {
  Start();
  runner_->Advance({0.02}, NoProgress);
  EXPECT_THROW(runner_->Advance({0.02}, NoProgress), RunError);
  EXPECT_THROW(runner_->Advance({0.01}, NoProgress), RunError);
  EXPECT_EQ(runner_->Advance({0.03}, NoProgress).from_s, 0.02);
}

TEST_F(RunnerFailureTest, FailedLoadingThrows) {
  family().preload = {.keys = 40, .random_order = true};
  store_.before_operation = [] { return rocksdb::Status::NoSpace("full"); };
  Start();
  try {
    runner_->Load(NoProgress);
    FAIL() << "no exception was thrown";
  } catch (const RunError& error) {
    EXPECT_EQ(error.failure(), RunFailure::kOutOfDisk);
  }
}

}  // namespace
}  // namespace rocktune
