#include "rocktune/adaptive_store.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "rocktune/flsm/flsm_pilot.h"
#include "rocktune/util/durable_file.h"

namespace rocktune {
namespace {

constexpr const char* kFileName = "COSTS";
constexpr uint64_t kReshapeBytesPerS = 8 << 20;
// Somewhat more than 500, since a decision is paid for by the mission that follows it.
constexpr int kMinMissionPerCpu = 600;
// Missions between two writes of the estimates; a crash loses at most what was estimated in these.
constexpr uint64_t kKeepEvery = 100;

// A CostController whose estimates survive the process. Thread-safe.
class KeptController : public FlsmController {
 public:
  KeptController(rocksdb::Env* env, std::string directory) : env_(env), directory_(std::move(directory)) {}

  // Restores what an earlier process kept.
  void Remember() {
    const std::string path = directory_ + "/" + kFileName;
    std::string text;
    rocksdb::Status status = env_->FileExists(path);
    if (status.IsNotFound()) {
      return;
    }
    status = rocksdb::ReadFileToString(env_, path, &text);
    Note(status.ok() ? controller_.Restore(text) : status);
  }
  // Writes the estimates.
  void Keep() { Note(ReplaceFile(env_, directory_, kFileName, controller_.Save())); }

  std::vector<FlsmPolicyChange> Decide(const FlsmMission& mission) override {
    std::vector<FlsmPolicyChange> changes = controller_.Decide(mission);
    if (!changes.empty() || mission.number % kKeepEvery == 0) {
      Keep();
    }
    return changes;
  }

  const CostController& controller() const { return controller_; }
  rocksdb::Status Problem() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return problem_;
  }

 private:
  void Note(const rocksdb::Status& status) {
    if (!status.ok()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      problem_ = status;
    }
  }

  rocksdb::Env* const env_;
  const std::string directory_;
  CostController controller_;
  mutable std::mutex mutex_;
  rocksdb::Status problem_;
};

class AdaptiveStoreImpl : public AdaptiveStore {
 public:
  // `kept` is the controller of `adaptive`, or the store's own. It is nullptr if the application gave one.
  AdaptiveStoreImpl(std::unique_ptr<FlsmStore> store, const AdaptiveOptions& adaptive,
                    std::unique_ptr<KeptController> kept)
      : store_(std::move(store)),
        given_(adaptive.controller),
        kept_(std::move(kept)),
        pilot_(std::make_unique<FlsmPilot>(
            store_.get(), given_ != nullptr ? given_.get() : static_cast<FlsmController*>(kept_.get()),
            adaptive.mission_operations, kMinMissionPerCpu)) {}
  ~AdaptiveStoreImpl() override { StopPilot(); }

  FlsmStore* store() override { return store_.get(); }
  std::vector<CostDecision> Log() const override {
    return kept_ == nullptr ? std::vector<CostDecision>() : kept_->controller().Log();
  }
  bool IsSettled() const override { return kept_ != nullptr && kept_->controller().IsSettled(); }
  uint64_t Missions() const override { return pilot_ == nullptr ? missions_ : pilot_->missions(); }
  uint64_t ControllerCpuNs() const override { return pilot_ == nullptr ? cpu_ns_ : pilot_->cpu_ns(); }
  rocksdb::Status Problem() const override {
    const rocksdb::Status refused = pilot_ == nullptr ? refused_ : pilot_->LastRefusal();
    return refused.ok() && kept_ != nullptr ? kept_->Problem() : refused;
  }
  rocksdb::Status Close() override {
    StopPilot();
    return store_->Close();
  }

 private:
  void StopPilot() {
    if (pilot_ == nullptr) {
      return;
    }
    pilot_->Stop();
    missions_ = pilot_->missions();
    cpu_ns_ = pilot_->cpu_ns();
    refused_ = pilot_->LastRefusal();
    pilot_.reset();
    if (kept_ != nullptr) {
      kept_->Keep();
    }
  }

  const std::unique_ptr<FlsmStore> store_;
  const std::shared_ptr<FlsmController> given_;
  const std::unique_ptr<KeptController> kept_;
  uint64_t missions_ = 0;  // these three once the pilot has ended
  uint64_t cpu_ns_ = 0;
  rocksdb::Status refused_;
  std::unique_ptr<FlsmPilot> pilot_;  // must end before the store
};

}  // namespace

FlsmOptions AdaptiveLayout() {
  FlsmOptions layout;
  layout.filters.scheme = FlsmFilters::Scheme::kMonkey;
  layout.reshape_bytes_per_s = kReshapeBytesPerS;
  return layout;
}

rocksdb::Status AdaptiveStore::Open(const rocksdb::Options& options, const AdaptiveOptions& adaptive,
                                    const std::string& path, std::unique_ptr<AdaptiveStore>* store) {
  if (adaptive.layout.sample_every == 0) {
    return rocksdb::Status::InvalidArgument("sample_every: an adaptive store needs samples",
                                            "set it to 1 or more");
  }
  if (adaptive.controller == nullptr && adaptive.layout.granularity == FlsmGranularity::kFiles) {
    return rocksdb::Status::NotSupported("granularity: costs are predicted for whole levels",
                                         "use kLevels, or give a controller");
  }
  std::unique_ptr<FlsmStore> opened;
  rocksdb::Status status = FlsmStore::Open(options, adaptive.layout, path, &opened);
  if (!status.ok()) {
    return status;
  }
  std::unique_ptr<KeptController> kept;
  if (adaptive.controller == nullptr) {
    kept = std::make_unique<KeptController>(options.env, path);
    kept->Remember();
  }
  *store = std::make_unique<AdaptiveStoreImpl>(std::move(opened), adaptive, std::move(kept));
  return status;
}

}  // namespace rocktune
