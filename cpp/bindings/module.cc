#include "bindings.h"

NB_MODULE(_native, module) {
  rocktune::BindCostController(module);
  rocktune::BindFlsmStore(module);
  rocktune::BindFlsmPilot(module);  // after the store, whose class its signatures name
  rocktune::BindFlsmSimulator(module);
  rocktune::BindUtil(module);
  rocktune::BindWorkload(module);
}
