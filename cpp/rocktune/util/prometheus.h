#pragma once

#include <string>

namespace rocktune {

// Writes metrics in Prometheus' text format.
class PrometheusWriter {
 public:
  // `prefix` begins each metric's name, such as "rocktune_governor_".
  explicit PrometheusWriter(const std::string& prefix) : prefix_(prefix) {}

  // Adds a metric without labels. `type` is "counter" or "gauge".
  void Add(const std::string& name, const char* type, const char* help, double value) {
    const std::string full = prefix_ + name;
    text_ += "# HELP " + full + " " + help + "\n# TYPE " + full + " " + type + "\n";
    text_ += full + " " + std::to_string(value) + "\n";
  }

  const std::string& text() const { return text_; }

 private:
  const std::string prefix_;
  std::string text_;
};

}  // namespace rocktune
