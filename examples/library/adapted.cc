// Fills an adaptive store, then only reads, and prints what the controller decided for each workload, why,
// and what it predicted and observed.
//
//   ./adapted DIRECTORY

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/adaptive_store.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: " << arguments[0] << " DIRECTORY\n";
    return 2;
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 256 << 10;  // small, so that the example has several levels
  rocktune::AdaptiveOptions adaptive;
  adaptive.mission_operations = 2000;
  adaptive.layout.sample_every = 4;
  std::unique_ptr<rocktune::AdaptiveStore> store;
  rocksdb::Status status = rocktune::AdaptiveStore::Open(options, adaptive, arguments[1], &store);
  std::string value(1000, 'v');
  for (int number = 0; status.ok() && number < 200'000; ++number) {
    const std::string key = std::to_string(std::rand() % 50'000);
    const bool reads = number >= 100'000 && number % 50 != 0;
    status = reads ? store->store()->Get({}, key, &value) : store->store()->Put({}, key, value);
    status = status.IsNotFound() ? rocksdb::Status::OK() : status;
  }
  for (const rocktune::CostDecision& decision :
       store == nullptr ? std::vector<rocktune::CostDecision>() : store->Log()) {
    std::cout << "mission " << decision.mission << ": " << decision.what << ", " << decision.why
              << "; predicted " << decision.predicted_ns << " ns, observed " << decision.observed_ns
              << " ns\n";
  }
  if (status.ok()) status = store->Close();
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
