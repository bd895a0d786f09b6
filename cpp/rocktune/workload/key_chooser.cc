#include "rocktune/workload/key_chooser.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "rocktune/workload/permutation.h"
#include "rocktune/workload/two_term_exponential.h"
#include "rocktune/workload/zipf.h"

namespace rocktune {

namespace {

// A constant, so that the hot keys are the same in runs with different seeds.
constexpr uint64_t kScramblingSeed = 0x5c7a3b1e;

// All keys are equally likely.
class UniformChooser final : public KeyChooser {
 public:
  explicit UniformChooser(uint64_t keys) : keys_(keys) {}
  uint64_t Next(Random* random, uint64_t) const override { return random->Below(keys_); }

 private:
  uint64_t keys_;
};

// Lower keys are hotter.
class ZipfianChooser final : public KeyChooser {
 public:
  ZipfianChooser(uint64_t keys, double skew) : ranks_(keys, skew) {}
  uint64_t Next(Random* random, uint64_t) const override { return ranks_.Next(random); }

 private:
  GrayZipf ranks_;
};

// The hot keys are scattered over the key space.
class ScrambledZipfianChooser final : public KeyChooser {
 public:
  ScrambledZipfianChooser(uint64_t keys, double skew) : ranks_(keys, skew), places_(keys, kScramblingSeed) {}
  uint64_t Next(Random* random, uint64_t) const override { return places_(ranks_.Next(random)); }

 private:
  GrayZipf ranks_;
  Permutation places_;
};

// Lower keys are hotter; exponents of 1 and more are possible.
class TrueZipfChooser final : public KeyChooser {
 public:
  TrueZipfChooser(uint64_t keys, double exponent) : ranks_(keys, exponent) {}
  uint64_t Next(Random* random, uint64_t) const override { return ranks_.Next(random); }

 private:
  ExactZipf ranks_;
};

// Newer keys are hotter.
class LatestChooser final : public KeyChooser {
 public:
  LatestChooser(uint64_t keys, double skew) : ages_(keys, skew) {}
  uint64_t Next(Random* random, uint64_t key_count) const override {
    return key_count - 1 - ages_.Next(random);
  }

 private:
  GrayZipf ages_;
};

// The first keys are hot and all equally likely; so are the others.
class HotspotChooser final : public KeyChooser {
 public:
  HotspotChooser(uint64_t keys, double hot_key_share, double hot_operation_share)
      : keys_(keys),
        hot_keys_(std::clamp<uint64_t>(
            static_cast<uint64_t>(std::llround(static_cast<double>(keys) * hot_key_share)), 1, keys)),
        // Without cold keys Next must not draw one.
        hot_operation_share_(hot_keys_ == keys ? 1 : hot_operation_share) {}

  uint64_t Next(Random* random, uint64_t) const override {
    if (random->NextDouble() < hot_operation_share_) {
      return random->Below(hot_keys_);
    }
    return hot_keys_ + random->Below(keys_ - hot_keys_);
  }

 private:
  uint64_t keys_;
  uint64_t hot_keys_;  // number of hot keys, which are the first ones
  double hot_operation_share_;
};

}  // namespace

std::unique_ptr<const KeyChooser> NewKeyChooser(const KeyChooserSpec& spec, uint64_t keys) {
  if (spec.kind == "uniform") {
    return std::make_unique<UniformChooser>(keys);
  }
  if (spec.kind == "zipfian") {
    return std::make_unique<ZipfianChooser>(keys, spec.skew);
  }
  if (spec.kind == "scrambled_zipfian") {
    return std::make_unique<ScrambledZipfianChooser>(keys, spec.skew);
  }
  if (spec.kind == "true_zipf") {
    return std::make_unique<TrueZipfChooser>(keys, spec.skew);
  }
  if (spec.kind == "latest") {
    return std::make_unique<LatestChooser>(keys, spec.skew);
  }
  if (spec.kind == "hotspot") {
    return std::make_unique<HotspotChooser>(keys, spec.hot_key_share, spec.hot_operation_share);
  }
  if (spec.kind == "two_term_exponential") {
    return std::make_unique<TwoTermExponentialChooser>(spec, keys);
  }
  // Out of reach for a spec of WorkloadSpecFromJson.
  throw std::invalid_argument("key_chooser.kind: unknown kind '" + spec.kind + "'");
}

}  // namespace rocktune
