#include "rocktune/flsm/flsm_shape.h"

namespace rocktune {

uint64_t FlsmLevel::bytes() const {
  uint64_t sum = 0;
  for (const FlsmRun& run : runs) {
    sum += run.bytes;
  }
  return sum;
}

uint64_t FlsmLevel::staying_bytes() const {
  uint64_t sum = 0;
  for (const FlsmRun& run : runs) {
    sum += run.use == RunUse::kLeaving ? 0 : run.bytes;
  }
  return sum;
}

int FlsmShape::LevelsInUse() const {
  int number = deepest();
  while (number > 1 && level(number).runs.empty()) {
    --number;
  }
  return number;
}

uint64_t FlsmShape::Capacity(int number) const {
  uint64_t capacity = level1_bytes;
  for (int above = 1; above < number; ++above) {
    capacity *= static_cast<uint64_t>(size_ratio);
  }
  return capacity;
}

std::string Broken(const FlsmShape& shape) {
  for (int number = 1; number <= shape.deepest(); ++number) {
    const FlsmLevel& level = shape.level(number);
    const std::string name = "level " + std::to_string(number) + ": ";
    if (level.policy < 1 || level.policy > shape.size_ratio) {
      return name + "policy " + std::to_string(level.policy) + " is not from 1 to T";
    }
    int above = shape.FirstSlot(number) - 1;
    for (const FlsmRun& run : level.runs) {
      if (run.physical <= above || run.physical > shape.LastSlot(number)) {
        return name + "a run at physical level " + std::to_string(run.physical) +
               (run.physical <= above ? " is not below the one that is newer" : " is outside its block");
      }
      above = run.physical;
    }
  }
  return "";
}

std::string ToText(const FlsmShape& shape) {
  std::string text = std::to_string(shape.level0_files) + "x" + std::to_string(shape.level0_bytes);
  for (const FlsmLevel& level : shape.levels) {
    text += " | K=" + std::to_string(level.policy);
    for (const FlsmRun& run : level.runs) {
      text += " " + std::to_string(run.bytes);
      text += run.sealed ? "!" : "";
      text += run.use == RunUse::kLeaving ? "<" : run.use == RunUse::kArriving ? ">" : "";
    }
  }
  return text;
}

}  // namespace rocktune
