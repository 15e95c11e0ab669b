// Trees that C++ lambdas over values leave.
#pragma once

#include "plan/syntax.h"

namespace penstock {

// Throws INVALID_ARGUMENT if the tree holds an argument of a lambda that is not in it: a value that
// was kept when its lambda was left.
void check_own_arguments(const Expr& tree);

}  // namespace penstock
