#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "rocktune/util/fake_crash.h"

namespace rocktune {

// Size and time of change of each file of a directory, by name.
using DirectoryState = std::map<std::string, std::pair<uintmax_t, std::filesystem::file_time_type>>;

inline DirectoryState FilesOf(const std::string& directory) {
  DirectoryState files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    files[entry.path().filename().string()] = {entry.file_size(), entry.last_write_time()};
  }
  return files;
}

// Runs the disabled test `filter` in processes that kill themselves at ever later file operations, until one
// ends by itself, which must succeed. The variant of their CrashCase is that of `of` and the number of the
// operation, at first 1; `next` returns the one after it. Calls `check` after each kill, and returns the
// number of kills.
inline int KillUntilDone(const CrashCase& of, const std::string& filter, const std::function<int(int)>& next,
                         const std::function<void()>& check) {
  int kills = 0;
  for (int dies_at = 1; !testing::Test::HasFailure(); dies_at = next(dies_at)) {
    const int status = RunChild({of.directory, of.variant + std::to_string(dies_at), of.synced}, filter);
    check();
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
      EXPECT_EQ(status, 0) << "the migration failed after " << kills << " kills";
      break;
    }
    ++kills;
  }
  return kills;
}

}  // namespace rocktune
