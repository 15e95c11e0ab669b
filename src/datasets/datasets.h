// The dataset operators: one file each, one line each in operators.inc.
#pragma once

#include "plan/node.h"

namespace penstock {

// Adds the operators of operators.inc to the registry, once; called by whoever builds plans.
void register_datasets();

}  // namespace penstock
