#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// Settings that are rocktune's own and no options of RocksDB, read from one section of option maps. What is
// read goes where its name was bound to, so that the default is what stood there.
//
// Not thread-safe. Throws RunError (invalid), naming the setting, for what is not known or makes no sense.
class Settings {
 public:
  explicit Settings(std::string section) : section_(std::move(section)) {}

  using Set = std::function<void(const std::string& text)>;
  void Bind(const std::string& name, Set set) { setters_[name] = std::move(set); }
  void Whole(const std::string& name, uint64_t* to);  // with K, M, G or T behind it for powers of 1024
  void Whole(const std::string& name, int* to);
  void Number(const std::string& name, double* to);
  void Truth(const std::string& name, bool* to);
  template <typename Value>
  void OneOf(const std::string& name, std::vector<std::pair<std::string, Value>> values, Value* to) {
    Bind(name, [this, name, values = std::move(values), to](const std::string& text) {
      std::string names;
      for (const auto& [known, value] : values) {
        if (known == text) {
          *to = value;
          return;
        }
        names += (names.empty() ? "" : ", ") + known;
      }
      Refuse(name, "'" + text + "' is none of " + names);
    });
  }

  void Read(const OptionMaps::Map& map) const;
  [[noreturn]] void Refuse(const std::string& name, const std::string& problem) const;

 private:
  uint64_t WholeNumber(const std::string& name, const std::string& text) const;

  const std::string section_;
  std::map<std::string, Set> setters_;
};

// The shortest text that reads as the same number.
std::string NumberText(double number);

}  // namespace rocktune
