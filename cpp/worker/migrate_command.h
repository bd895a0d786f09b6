#pragma once

#include <nlohmann/json_fwd.hpp>

#include "rocktune/util/progress.h"

namespace rocktune {

// Executes the commands copy_store and rewrite_store of docs/design/worker-protocol.md and return the
// reply. Throw RunError as CopyStore and RewriteStore do, and the exceptions of the
// parsers.
nlohmann::json CopyStoreCommand(const nlohmann::json& command, const Progress& progress);
nlohmann::json RewriteStoreCommand(const nlohmann::json& command, const Progress& progress);

}  // namespace rocktune
