#pragma once

#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/cost_controller.h"
#include "rocktune/flsm_options.h"
#include "rocktune/flsm_store.h"

namespace rocktune {

// Returns the layout of a new adaptive store: the defaults of FlsmOptions with Monkey's filters, and surplus
// runs of an idle store joined at 8 MiB/s.
FlsmOptions AdaptiveLayout();

struct AdaptiveOptions {
  FlsmOptions layout = AdaptiveLayout();
  uint64_t mission_operations = 50'000;  // operations between two decisions, at least 1
  // Decides instead of a CostController; called on the store's controller thread.
  std::shared_ptr<FlsmController> controller;
};

// An FLSM store whose policies follow the workload.
//
//     std::unique_ptr<rocktune::AdaptiveStore> adaptive;
//     rocktune::AdaptiveStore::Open(options, {}, path, &adaptive);
//     adaptive->store()->Put(rocksdb::WriteOptions(), "key", "value");
//
// A thread of its own reads the store's counters, decides after each mission, and uses at most 1/500 of a
// processor. No operation of the store takes a lock of the controller or waits for it.
//
// Prices and log of a CostController are kept in the file COSTS of the store's directory, replaced as a
// whole before a decision is applied. A file that is missing or damaged is begun again. After a kill or a
// power cut at any time the policies are those of the log, but for the last decision, which may be missing.
//
// Ownership: owns the store. Close or delete it before anything that the options name.
// Threads: thread-safe, except that Close and the destructor must be called alone. Throws no exception.
class AdaptiveStore {
 public:
  // Opens the store at `path`, or creates one. Returns InvalidArgument without samples (a sample_every of 0),
  // NotSupported for FlsmGranularity::kFiles unless a controller is given, and the errors of FlsmStore::Open.
  static rocksdb::Status Open(const rocksdb::Options& options, const AdaptiveOptions& adaptive,
                              const std::string& path, std::unique_ptr<AdaptiveStore>* store);

  virtual ~AdaptiveStore() = default;

  // Returns the store, which lives until Close.
  virtual FlsmStore* store() = 0;
  // Returns the CostController's decisions, oldest first; empty with another controller.
  virtual std::vector<CostDecision> Log() const = 0;
  // True if the CostController has decided for the present workload; false with another controller.
  virtual bool IsSettled() const = 0;
  // Returns the number of missions since the store was opened.
  virtual uint64_t Missions() const = 0;
  // Returns the CPU time of the controller's thread, in nanoseconds.
  virtual uint64_t ControllerCpuNs() const = 0;
  // Returns the latest problem of keeping the estimates or of applying a policy; OK if there was none. The
  // store serves in any case.
  virtual rocksdb::Status Problem() const = 0;
  // Ends the controller's thread after a decision in progress, keeps the estimates, and closes the store.
  // Returns Aborted while there are snapshots, as FlsmStore::Close does; the policies then stay as they are.
  virtual rocksdb::Status Close() = 0;
};

}  // namespace rocktune
