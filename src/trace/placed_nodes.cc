#include "trace/placed_nodes.h"

#include <algorithm>
#include <unordered_set>

namespace penstock {
namespace {

void place(const PlanNode& root, int parent, std::unordered_set<const PlanNode*>* seen,
           std::vector<PlacedNode>* out) {
  std::vector<const PlanNode*> order = topological(root);
  std::ranges::reverse(order);
  for (const PlanNode* node : order) {
    if (!seen->insert(node).second) continue;
    const int id = static_cast<int>(out->size());
    out->push_back({node, parent});
    std::vector<const PlanNode*> nested;
    for (const auto& [name, f] : node->functions) nested_plans(*f, &nested);
    for (const PlanNode* plan : nested) place(*plan, id, seen, out);
  }
}

}  // namespace

void nested_plans(const Function& function, std::vector<const PlanNode*>* out) {
  for (const FunctionNode& node : function.nodes) {
    if (node.dataset) out->push_back(node.dataset.get());
    for (const FunctionPtr& body : node.bodies) nested_plans(*body, out);
  }
}

std::vector<PlacedNode> placed_nodes(const PlanNode& root) {
  std::vector<PlacedNode> out;
  std::unordered_set<const PlanNode*> seen;
  place(root, -1, &seen, &out);
  return out;
}

}  // namespace penstock
