// penstock explain --json: one object, docs/format/explain.md.
#pragma once

#include <nlohmann/json.hpp>

#include "report/explanation.h"

namespace penstock {

Json explain_json(const Analysis& analysis, const ExplainOptions& options = {});

}  // namespace penstock
