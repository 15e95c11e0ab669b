// Plan to tree: the canonical print of a plan is format_program(unparse(plan)).
//
// Reading that text gives the same plan again (same_plan), names of values and the arity of lambdas
// included where they can be kept. Each operator, attribute and constant is spelled so that the
// elaborator's typing of literals gives back the dtype that the plan holds.
#pragma once

#include "plan/node.h"
#include "plan/syntax.h"

namespace penstock {

// One stage a line; nodes with several users are `let`s; arguments at their defaults are left out.
Program unparse(const PlanNode& root);

// The function as a lambda. What it captures is named by the hints of its values.
ExprPtr unparse_function(const Function& function);

}  // namespace penstock
