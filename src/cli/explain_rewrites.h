// explain --rewrites: the rules that were applied, and the conditions that stopped others.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "job/rewrites.h"

namespace penstock::cli {

// Lines of at most 80 columns.
std::string rewrites_text(const Rewrites& rewrites);
nlohmann::ordered_json rewrites_json(const Rewrites& rewrites);

}  // namespace penstock::cli
