// Performance options: dropping what was written, writing down what the model says.
#pragma once

#include "model/model.h"
#include "plan/node.h"

namespace penstock {

// Parallel calls for stages whose demand is worth a thread of their own, and a prefetch at the end
// where there are any; else `plan` itself. `analysis` is of a one-thread run of the same plan.
PlanPtr write_knobs(const PlanPtr& plan, const Analysis& analysis, int cores);

}  // namespace penstock
