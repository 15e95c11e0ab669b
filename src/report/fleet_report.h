// Sums over many jobs, as text and as JSON (docs/format/fleet.md).
#pragma once

#include <string>

#include "fleet/fleet.h"

namespace penstock {

// Lines of at most 80 columns, but for names of files.
std::string fleet_text(const Fleet& fleet);
Json fleet_json(const Fleet& fleet);

}  // namespace penstock
