#pragma once

#include <cstdint>

#include "rocktune/workload/random.h"

namespace rocktune {

// Returns the sum of i^-exponent for i = 1 .. count, with a relative error under 1e-13. Takes microseconds
// for any count: it adds a thousand terms and uses the Euler-Maclaurin formula for the rest.
// REQUIRES: count > 0, exponent >= 0.
double ZipfSum(uint64_t count, double exponent);

// An approximate Zipf distribution, as in YCSB: Gray et al., "Quickly generating billion-record synthetic
// databases" (SIGMOD 1994), figure 3. Ranks 0 and 1 have exactly the Zipfian probabilities, the others
// approximately. Immutable, hence thread-safe.
class GrayZipf {
 public:
  // REQUIRES: count > 0, 0 <= skew < 1.
  GrayZipf(uint64_t count, double skew);

  // Returns a rank in [0, count); rank 0 is the most likely.
  uint64_t Next(Random* random) const;

 private:
  uint64_t count_;
  double sum_;         // Gray's zeta_n
  double two_sum_;     // zeta_2
  double power_;       // alpha
  double correction_;  // eta
};

// The exact Zipf distribution for any exponent above 0, by rejection-inversion: Hörmann and Derflinger,
// "Rejection-inversion to generate variates from monotone discrete distributions" (TOMACS 1996). Immutable,
// hence thread-safe.
class ExactZipf {
 public:
  // REQUIRES: count > 0, exponent > 0.
  ExactZipf(uint64_t count, double exponent);

  // Returns a rank in [0, count); rank 0 is the most likely.
  uint64_t Next(Random* random) const;

 private:
  double Integral(double x) const;
  double InverseIntegral(double area) const;
  double Density(double x) const;

  double count_;
  double exponent_;
  double first_area_;
  double last_area_;
  double sure_distance_;  // a rank at most this far above x is accepted without a further test
};

}  // namespace rocktune
