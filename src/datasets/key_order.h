// Datasets whose dicts hold the same keys in another order.
#pragma once

#include "plan/node.h"

namespace penstock {

// The dataset with the keys of its dicts in the order of `like`; itself where the order is the
// same, or where the structures differ in more than that.
PlanPtr with_key_order(const PlanPtr& dataset, const Spec& like);

}  // namespace penstock
