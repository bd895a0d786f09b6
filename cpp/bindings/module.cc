#include "bindings.h"

NB_MODULE(_native, module) {
  rocktune::BindUtil(module);
  rocktune::BindWorkload(module);
}
