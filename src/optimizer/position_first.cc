// position_first: map(f) | skip(n) becomes skip(n) | map(f), and so does shard: elements that are
// dropped by their place need not be computed. take stays: it counts no errors.

#include "optimizer/rule.h"

namespace penstock {
namespace {

constexpr RuleCondition kPositionFirstConditions[] = {
    {"one_for_one", "the stage below is a map without effects, or hands on one for one",
     "range(9) | filter(x -> x > 3) | skip(2)"},
};

constexpr int kMostStages = 16;  // that it passes at once; more in the next pass

bool computes_rows(const PlanNode& node) { return node.op->chain == ChainRole::map; }

bool has_effects(const PlanNode& node) {
  return computes_rows(node) && node.functions.front().second->effects() == Effects::stateful;
}

bool may_come_after(const PlanNode& node) {
  return node.op->is_transparent() || (computes_rows(node) && !has_effects(node));
}

PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (!node->op->by_place) return nullptr;
  const PlanNode& below = *node->inputs[0];
  if (!may_come_after(below)) return below.op->source ? nullptr : site.stop("one_for_one");
  std::vector<const PlanNode*> passed;  // highest first
  bool computes = false;
  PlanPtr at = node->inputs[0];
  for (; passed.size() < kMostStages && may_come_after(*at); at = at->inputs[0]) {
    passed.push_back(at.get());
    computes |= computes_rows(*at);
  }
  if (!computes) return nullptr;
  PlanPtr out = with_inputs(*node, {at});
  for (size_t i = passed.size(); i-- > 0;) out = with_inputs(*passed[i], {std::move(out)});
  return out;
}

}  // namespace

const Rule kPositionFirst{"position_first", "skip and shard go before maps, so these compute less",
                          "range(9) | map(x -> x * 2) | skip(3) | shard(2, 1)", apply,
                          kPositionFirstConditions};

}  // namespace penstock
