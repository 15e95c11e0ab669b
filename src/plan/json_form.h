// Plans as JSON, loss-free both ways; docs/format/plan-json.md describes the form.
#pragma once

#include <nlohmann/json.hpp>

#include "plan/node.h"

namespace penstock {

nlohmann::ordered_json plan_to_json(const PlanNode& plan);

// Checks everything and infers all types anew. Throws Error{INVALID_ARGUMENT},
// "plan.inputs[0].args: what is wrong", for anything that is no plan.
PlanPtr plan_from_json(const nlohmann::json& form);

}  // namespace penstock
