// penstock explain, as text for 80 columns.
#pragma once

#include <string>
#include <string_view>

#include "report/explanation.h"

namespace penstock {

// Returns a heading as it is shown; a terminal shows it in bold.
using Heading = std::string (*)(std::string_view text);
inline std::string plain_heading(std::string_view text) { return std::string(text); }

// Returns the verdict, a row for each stage, the ceilings, the plan, and the trust. Returns only
// the verdict if nothing is wrong, unless `full`.
std::string explain_text(const Analysis& analysis, const ExplainOptions& options = {},
                         bool full = false, Heading heading = plain_heading);

}  // namespace penstock
