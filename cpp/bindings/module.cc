#include "bindings.h"

NB_MODULE(_native, module) {
  rocktune::BindFlsm(module);
  rocktune::BindUtil(module);
  rocktune::BindWorkload(module);
}
