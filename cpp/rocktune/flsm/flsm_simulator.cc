#include "rocktune/flsm/flsm_simulator.h"

#include <utility>
#include <vector>

namespace rocktune {

FlsmSimulator::FlsmSimulator(FlsmShape shape, uint64_t buffer_bytes)
    : shape_(std::move(shape)), buffer_bytes_(buffer_bytes) {}

void FlsmSimulator::Write(uint64_t bytes) {
  user_bytes_ += bytes;
  for (buffered_bytes_ += bytes; buffered_bytes_ >= buffer_bytes_; buffered_bytes_ -= buffer_bytes_) {
    shape_.level0_files += 1;
    shape_.level0_bytes += buffer_bytes_;
    written_bytes_ += buffer_bytes_;
    Work();
  }
}

void FlsmSimulator::SetPolicy(int level, int policy, FlsmTransition transition) {
  rocktune::SetPolicy(&shape_, level, policy, transition);
  Work();
}

void FlsmSimulator::Work() {
  for (std::vector<FlsmTask> due = DueTasks(shape_); !due.empty(); due = DueTasks(shape_)) {
    const FlsmTask& task = due.front();
    Begin(&shape_, task);
    Complete(&shape_, task, task.bytes);
    const bool moves = task.inputs.size() == 1;  // one run to an empty place is not written anew
    read_bytes_ += moves ? 0 : task.bytes;
    written_bytes_ += moves ? 0 : task.bytes;
  }
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
