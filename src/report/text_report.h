// penstock explain, as text for 80 columns.
#pragma once

#include <string>

#include "report/explanation.h"

namespace penstock {

// The verdict, a row per stage, the ceilings, the plan, and how far to trust it. Only the verdict
// when nothing is wrong, unless `full`.
std::string explain_text(const Analysis& analysis, const ExplainOptions& options = {},
                         bool full = false);

}  // namespace penstock
