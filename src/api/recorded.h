// Trees that C++ lambdas over values leave.
#pragma once

#include <memory>
#include <vector>

#include "penstock/function.h"
#include "plan/syntax.h"

namespace penstock {

// A call of an op that no registry knows. The value, and all that is made of it, keeps the op.
Value call_own(std::shared_ptr<const OpDef> op, std::vector<Value> args, const Named& named);

// Throws INVALID_ARGUMENT if the tree holds an argument of a lambda that is not in it: a value that
// was kept when its lambda was left.
void check_own_arguments(const Expr& tree);

}  // namespace penstock
