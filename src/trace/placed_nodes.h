// The order of the stages in a trace.
#pragma once

#include <vector>

#include "plan/node.h"

namespace penstock {

struct PlacedNode {
  const PlanNode* node = nullptr;
  int parent = -1;  // index of the stage whose function makes its pipeline; -1 at the top
};

// Lists the nodes of a plan, users before their inputs, those of nested pipelines after the stage
// to which they belong. The index of a node is the id of its stage.
std::vector<PlacedNode> placed_nodes(const PlanNode& root);

// Lists the plans of which a function makes datasets, in order.
void nested_plans(const Function& function, std::vector<const PlanNode*>* out);

}  // namespace penstock
