#include "plan/deciding_stages.h"

#include <algorithm>

#include "functions/evaluate.h"
#include "plan/noop.h"

namespace penstock {
namespace {

bool decides(const PlanNode& node) {
  if (changes_nothing(node) || node.op->reads_ahead) return false;
  return !node.op->caches || plan_effects(*node.inputs[0]) != Effects::pure;
}

}  // namespace

DecidingStages::DecidingStages(const PlanNode& plan) {
  std::map<const PlanNode*, PlanPtr> mapped;
  std::vector<const PlanNode*> cached;
  size_t number = 0;
  for (const PlanNode* node : topological(plan)) {
    ++number;
    if (!decides(*node)) {
      mapped[node] = mapped.at(node->inputs[0].get());
      if (node->op->caches) cached.push_back(mapped[node].get());
      continue;
    }
    std::vector<PlanPtr> inputs;
    for (const PlanPtr& input : node->inputs) inputs.push_back(mapped.at(input.get()));
    // Take the plan's own node, without owning it, if nothing below is left out.
    PlanPtr made =
        inputs == node->inputs ? PlanPtr(PlanPtr(), node) : with_inputs(*node, std::move(inputs));
    numbers_[made.get()] = number;
    of_[node] = made.get();
    mapped[node] = std::move(made);
  }
  root_ = mapped.at(&plan);
  stages_ = topological(*root_);
  for (const PlanNode* stage : cached)
    caches_.push_back(static_cast<size_t>(std::ranges::find(stages_, stage) - stages_.begin()));
  std::ranges::sort(caches_);
}

size_t DecidingStages::number(size_t i) const {
  return i < stages_.size() ? numbers_.at(stages_[i]) : numbers_.at(stages_.back()) + 1;
}

size_t DecidingStages::index_of(const PlanNode& node) const {
  return static_cast<size_t>(std::ranges::find(stages_, of_.at(&node)) - stages_.begin());
}

}  // namespace penstock
