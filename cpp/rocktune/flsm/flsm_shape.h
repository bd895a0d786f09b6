#pragma once

#include <string>

#include "rocktune/flsm_shape.h"

namespace rocktune {

// Returns the first rule that a shape violates, as one line; empty if it violates none. The rules: each run
// is in its level's block, newer runs have lower physical levels, and policies are from 1 to T.
std::string Violation(const FlsmShape& shape);

// Returns the number of levels for which filters share their memory: up to the deepest one that receives data
// or has at least half a push of it. A few ingested tables in a deep level do not count.
int LevelsToFilter(const FlsmShape& shape);

}  // namespace rocktune
