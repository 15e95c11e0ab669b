// penstock explain, as text for 80 columns.
#pragma once

#include <string>

#include "report/explanation.h"

namespace penstock {

// Returns the verdict, a row for each stage, the ceilings, the plan, and the trust. Returns only
// the verdict if nothing is wrong, unless `full`.
std::string explain_text(const Analysis& analysis, const ExplainOptions& options = {},
                         bool full = false);

}  // namespace penstock
