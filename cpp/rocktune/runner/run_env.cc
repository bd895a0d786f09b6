#include "rocktune/runner/run_env.h"

#include <cstdint>
#include <utility>

namespace rocktune {
namespace {

// The wall time at which the clock was at 0, plus the clock's time.
class RunSystemClock final : public rocksdb::SystemClockWrapper {
 public:
  explicit RunSystemClock(RunClock* clock)
      : SystemClockWrapper(rocksdb::SystemClock::Default()),
        clock_(clock),
        start_nanos_(target_->NowMicros() * 1000 - static_cast<uint64_t>(clock->Now())) {}

  const char* Name() const override { return "rocktune.RunSystemClock"; }

  uint64_t NowNanos() override { return start_nanos_ + static_cast<uint64_t>(clock_->Now()); }
  uint64_t NowMicros() override { return NowNanos() / 1000; }

  void SleepForMicroseconds(int micros) override {
    if (!clock_->SleepUntil(clock_->Now() + int64_t{micros} * 1000)) {
      target_->SleepForMicroseconds(micros);
    }
  }

 private:
  RunClock* const clock_;
  const uint64_t start_nanos_;
};

class RunEnv : public rocksdb::EnvWrapper {
 public:
  RunEnv(const std::shared_ptr<rocksdb::FileSystem>& file_system, std::shared_ptr<rocksdb::SystemClock> clock)
      : EnvWrapper(rocksdb::NewCompositeEnv(file_system)) {
    // EnvWrapper would otherwise reach both through the legacy file interface, which drops file options.
    file_system_ = file_system;
    system_clock_ = std::move(clock);
  }

  const char* Name() const override { return "rocktune.RunEnv"; }

  uint64_t NowNanos() override { return system_clock_->NowNanos(); }
  uint64_t NowMicros() override { return system_clock_->NowMicros(); }
  void SleepForMicroseconds(int micros) override { system_clock_->SleepForMicroseconds(micros); }
};

}  // namespace

std::unique_ptr<rocksdb::Env> NewRunEnv(const std::shared_ptr<rocksdb::FileSystem>& file_system,
                                        RunClock* clock) {
  return std::make_unique<RunEnv>(file_system, NewRunSystemClock(clock));
}

std::shared_ptr<rocksdb::SystemClock> NewRunSystemClock(RunClock* clock) {
  return std::make_shared<RunSystemClock>(clock);
}

}  // namespace rocktune
