#include "rocktune/workload/size_source.h"

#include <algorithm>
#include <cmath>

namespace rocktune {

SizeSource::SizeSource(const SizeSpec& spec)
    : kind_(spec.kind == "fixed"     ? Kind::kFixed
            : spec.kind == "uniform" ? Kind::kUniform
                                     : Kind::kPareto),
      low_(spec.low),
      high_(kind_ == Kind::kFixed ? spec.low : spec.high),
      k_(spec.k),
      sigma_(spec.sigma),
      theta_(spec.theta) {}

uint64_t SizeSource::Next(Random* random) const {
  switch (kind_) {
    case Kind::kFixed:
      return low_;
    case Kind::kUniform:
      return low_ + random->Below(high_ - low_ + 1);
    case Kind::kPareto:
      return Pareto(random);
  }
  return low_;
}

uint64_t SizeSource::Pareto(Random* random) const {
  const double u = 1 - random->NextDouble();  // in (0, 1]
  const double excess = k_ == 0 ? -std::log(u) : (std::pow(u, -k_) - 1) / k_;
  // A double above 2^53 is not exact to units, so the remainder below would be meaningless.
  const double size = std::min(std::ceil(theta_ + sigma_ * excess), 0x1.0p53);
  const uint64_t whole = static_cast<uint64_t>(size);
  return whole > high_ ? whole % high_ : whole;  // as db_bench does
}

}  // namespace rocktune
