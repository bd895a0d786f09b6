#include "rocktune/flsm/flsm_simulator.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace rocktune {

FlsmSimulator::FlsmSimulator(FlsmShape shape, uint64_t buffer_bytes, bool moves)
    : shape_(std::move(shape)),
      buffer_bytes_(buffer_bytes),
      moves_(moves),
      level_bytes_(shape_.levels.size()) {}

void FlsmSimulator::Write(uint64_t bytes) {
  user_bytes_ += bytes;
  for (buffered_bytes_ += bytes; buffered_bytes_ >= buffer_bytes_; buffered_bytes_ -= buffer_bytes_) {
    shape_.level0_files += 1;
    shape_.level0_bytes += buffer_bytes_;
    written_bytes_ += buffer_bytes_;
    RunDueTasks();
  }
}

void FlsmSimulator::SetPolicy(int level, int policy, FlsmTransition transition) {
  rocktune::SetPolicy(&shape_, level, policy, transition);
  RunDueTasks();
}

void FlsmSimulator::RunDueTasks() {
  for (std::vector<FlsmTask> due = DueTasks(shape_); !due.empty(); due = DueTasks(shape_)) {
    const FlsmTask& task = due.front();
    Begin(&shape_, task);
    if (task.kind == FlsmTask::Kind::kPushFiles) {
      PushFiles(task);
      continue;
    }
    Complete(&shape_, task, task.bytes);
    const bool one_run = task.inputs.size() == 1 && task.level0_files <= 1;
    CountCompaction(task.OutputLevel(), moves_ && one_run ? 0 : task.bytes);
  }
}

void FlsmSimulator::PushFiles(const FlsmTask& task) {
  std::map<int, uint64_t> bytes;  // sizes of the runs that the task uses, by physical level
  uint64_t largest = 1;           // maximum size of the level's own runs among them
  for (int number = task.level; number <= task.OutputLevel(); ++number) {
    for (const FlsmRun& run : shape_.level(number).runs) {
      if (std::find(task.inputs.begin(), task.inputs.end(), run.physical) != task.inputs.end()) {
        bytes[run.physical] = run.bytes;
        largest = number == task.level ? std::max(largest, run.bytes) : largest;
      }
    }
  }
  const double share = std::min(1.0, static_cast<double>(shape_.file_bytes) / static_cast<double>(largest));
  uint64_t moved = 0;
  uint64_t leaving = 0;
  for (auto& [physical, run_bytes] : bytes) {
    // A run of a single file spans all keys, so the push takes the whole run.
    const uint64_t part = run_bytes <= shape_.file_bytes
                              ? run_bytes
                              : static_cast<uint64_t>(share * static_cast<double>(run_bytes));
    moved += part;
    if (physical != task.output) {
      leaving += part;
      run_bytes -= part;
    }
  }
  bytes[task.output] += leaving;
  CountCompaction(task.OutputLevel(), moved);
  std::vector<FlsmRun> runs;
  runs.reserve(bytes.size());
  for (const auto& [physical, run_bytes] : bytes) {
    runs.push_back({physical, run_bytes, false, RunUse::kIdle});
  }
  CompleteFiles(&shape_, task, runs);
}

void FlsmSimulator::CountCompaction(int level, uint64_t bytes) {
  read_bytes_ += bytes;
  written_bytes_ += bytes;
  level_bytes_[static_cast<std::size_t>(level) - 1] += 2 * bytes;
}

double FlsmSimulator::WriteAmplification() const {
  return user_bytes_ == 0 ? 0 : static_cast<double>(written_bytes_) / static_cast<double>(user_bytes_);
}

int FlsmSimulator::Runs() const {
  int runs = static_cast<int>(shape_.level0_files);
  for (const FlsmLevel& level : shape_.levels) {
    runs += static_cast<int>(level.runs.size());
  }
  return runs;
}

}  // namespace rocktune
