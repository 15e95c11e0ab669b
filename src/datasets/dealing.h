// Which stages behind `shard` can go on with another number of ranks.
#pragma once

#include <vector>

#include "plan/node.h"

namespace penstock {

// Returns how the state of the stage moves to another number of ranks.
Resharding resharding_of(const PlanNode& node);

// The stages from the last one to `shard`. Throws FAILED_PRECONDITION, naming the stage, when there
// is none or another stage stands between that cannot be dealt.
std::vector<PlanPtr> stages_to_shard(const PlanPtr& plan);

}  // namespace penstock
