#pragma once

#include <string>

#include "rocktune/flsm_shape.h"

namespace rocktune {

// Returns the first rule that a shape breaks, in one line; empty if it breaks none. The rules: runs lie in
// their level's block, newer above older, and policies are from 1 to T.
std::string Broken(const FlsmShape& shape);

}  // namespace rocktune
