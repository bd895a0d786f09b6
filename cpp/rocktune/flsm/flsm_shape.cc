#include "rocktune/flsm/flsm_shape.h"

#include <algorithm>

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

int FlsmShape::Policy(int number) const {
  return deepest_policy != 0 && number == LevelsInUse() ? deepest_policy : level(number).policy;
}

uint64_t FlsmShape::Capacity(int number) const {
  constexpr uint64_t kUnlimited = uint64_t{1} << 62;  // deep levels of a large T would overflow
  const auto ratio = static_cast<uint64_t>(size_ratio);
  uint64_t capacity = level1_bytes;
  for (int above = 1; above < number; ++above) {
    capacity = capacity > kUnlimited / ratio ? kUnlimited : capacity * ratio;
  }
  return capacity;
}

uint64_t FlsmShape::Incoming(int number) const {
  const uint64_t level_above = Capacity(number) / static_cast<uint64_t>(size_ratio);
  return granularity == FlsmGranularity::kFiles && number > 1 ? std::min(file_bytes, level_above)
                                                              : level_above;
}

int LevelsToFilter(const FlsmShape& shape) {
  const auto counts = [&shape](int number) {
    const std::vector<FlsmRun>& runs = shape.level(number).runs;
    return shape.level(number).bytes() >= std::max<uint64_t>(1, shape.Incoming(number) / 2) ||
           std::any_of(runs.begin(), runs.end(),
                       [](const FlsmRun& run) { return run.use == RunUse::kArriving; });
  };
  int number = shape.deepest();
  while (number > 1 && !counts(number)) {
    --number;
  }
  return number;
}

std::string Violation(const FlsmShape& shape) {
  for (int number = 1; number <= shape.deepest(); ++number) {
    const FlsmLevel& level = shape.level(number);
    const std::string name = "level " + std::to_string(number) + ": ";
    if (const int policy = shape.Policy(number); policy < 1 || policy > shape.size_ratio) {
      return name + "policy " + std::to_string(policy) + " is not from 1 to T";
    }
    int above = shape.FirstSlot(number) - 1;
    for (const FlsmRun& run : level.runs) {
      if (run.physical <= above || run.physical > shape.LastSlot(number)) {
        return name + "a run at physical level " + std::to_string(run.physical) +
               (run.physical <= above ? " is not below the newer run" : " is outside the level's block");
      }
      above = run.physical;
    }
  }
  return "";
}

std::string ToText(const FlsmShape& shape) {
  std::string text = std::to_string(shape.level0_files) + "x" + std::to_string(shape.level0_bytes);
  for (int number = 1; number <= shape.deepest(); ++number) {
    text += " | K=" + std::to_string(shape.Policy(number));
    for (const FlsmRun& run : shape.level(number).runs) {
      text += " " + std::to_string(run.bytes);
      text += run.sealed ? "!" : "";
      text += run.use == RunUse::kLeaving ? "<" : run.use == RunUse::kArriving ? ">" : "";
    }
  }
  return text;
}

}  // namespace rocktune
