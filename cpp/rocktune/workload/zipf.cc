#include "rocktune/workload/zipf.h"

#include <algorithm>
#include <cmath>

namespace rocktune {

namespace {

// (e^x - 1) / x and log(1 + x) / x. Near 0, where the quotients lose precision, they use the Taylor series.
double GrowthRatio(double x) { return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2; }
double LogRatio(double x) { return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2; }

}  // namespace

double ZipfSum(uint64_t count, double exponent) {
  constexpr uint64_t kExactTerms = 1000;
  double sum = 0;
  // Adds the smallest terms first, for the least rounding error.
  for (uint64_t i = std::min(count, kExactTerms - 1); i >= 1; --i) {
    sum += std::pow(static_cast<double>(i), -exponent);
  }
  if (count < kExactTerms) {
    return sum;
  }
  const double s = exponent, first = kExactTerms, last = static_cast<double>(count);
  const double log_ratio = std::log(last / first);
  const double integral = std::pow(first, 1 - s) * log_ratio * GrowthRatio((1 - s) * log_ratio);
  const auto difference = [&](double power) { return std::pow(first, power) - std::pow(last, power); };
  return sum + integral + (std::pow(first, -s) + std::pow(last, -s)) / 2 + s / 12 * difference(-s - 1) -
         s * (s + 1) * (s + 2) / 720 * difference(-s - 3);
}

GrayZipf::GrayZipf(uint64_t count, double skew)
    : count_(count),
      sum_(ZipfSum(count, skew)),
      two_sum_(1 + std::pow(0.5, skew)),
      power_(1 / (1 - skew)),
      correction_(count > 2
                      ? (1 - std::pow(2.0 / static_cast<double>(count), 1 - skew)) / (1 - two_sum_ / sum_)
                      : 0) {}

uint64_t GrayZipf::Next(Random* random) const {
  const double u = random->NextDouble();
  const double scaled = u * sum_;
  if (scaled < 1) {
    return 0;
  }
  if (scaled < two_sum_) {
    return std::min<uint64_t>(1, count_ - 1);
  }
  const double rank = static_cast<double>(count_) * std::pow(correction_ * (u - 1) + 1, power_);
  return std::min(static_cast<uint64_t>(rank), count_ - 1);
}

ExactZipf::ExactZipf(uint64_t count, double exponent)
    : count_(static_cast<double>(count)),
      exponent_(exponent),
      first_area_(Integral(1.5) - 1),
      last_area_(Integral(count_ + 0.5)),
      sure_distance_(2 - InverseIntegral(Integral(2.5) - Density(2))) {}

double ExactZipf::Integral(double x) const {
  const double log_x = std::log(x);
  return GrowthRatio((1 - exponent_) * log_x) * log_x;
}

double ExactZipf::InverseIntegral(double area) const {
  const double t = std::max(-1.0, area * (1 - exponent_));
  return std::exp(LogRatio(t) * area);
}

double ExactZipf::Density(double x) const { return std::exp(-exponent_ * std::log(x)); }

uint64_t ExactZipf::Next(Random* random) const {
  for (;;) {
    const double area = last_area_ + random->NextDouble() * (first_area_ - last_area_);
    const double x = InverseIntegral(area);
    const double rank = std::clamp(std::floor(x + 0.5), 1.0, count_);
    if (rank - x <= sure_distance_ || area >= Integral(rank + 0.5) - Density(rank)) {
      return static_cast<uint64_t>(rank) - 1;
    }
  }
}

}  // namespace rocktune
