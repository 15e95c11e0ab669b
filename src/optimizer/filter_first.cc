// filter_first: map(f) | filter(p) becomes map(f1) | filter(p) | map(f2), where f1 makes what p
// looks at and f2 all else: elements that are dropped are not computed whole.
//
// An error of f2 vanishes with the element that p drops, which is right only where nothing above
// counts places of errors (RuleSite::errors_may_go).

#include "functions/split_function.h"
#include "optimizer/rule.h"

namespace penstock {
namespace {

constexpr RuleCondition kFilterFirstConditions[] = {
    {"one_error", "the predicate, or what is computed after it, cannot fail",
     "range(9) | map(x -> {a: x, b: sum(exp(fill([9], float32(7 // x))))}) "
     "| filter({a, **_} -> 7 // a > 1)"},
    {"uncounted_errors",
     "what is computed after it cannot fail, or no stage above holds or counts errors",
     "range(9) | map(x -> {a: x, b: sum(exp(fill([9], float32(7 // x))))}) "
     "| filter({a, **_} -> a > 1) | skip(1)"},
};

constexpr double kWorthNs = 150;  // cost of a row from which leaving it out pays

PlanPtr with_function(const PlanNode& node, PlanPtr input, FunctionPtr f, Attrs args) {
  return make_node(*node.op, {std::move(input)}, std::move(args),
                   {{node.functions.front().first, std::move(f)}}, node.span);
}

PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (node->op->chain != ChainRole::filter) return nullptr;
  const PlanNode& map = *node->inputs[0];
  if (!map.is("map")) return nullptr;
  const Function& f = *map.functions.front().second;
  const Function& predicate = *node->functions.front().second;
  if (f.effects() == Effects::stateful || predicate.effects() == Effects::stateful) return nullptr;
  const std::vector<bool> used = used_inputs(predicate);
  std::vector<int> results;
  for (size_t i = 0; i < used.size(); ++i)
    if (used[i]) results.push_back(static_cast<int>(i));
  const SplitFunction split = split_function(f, results);
  if (split.rest->cost_ns() < kWorthNs) return nullptr;
  if (split.rest->can_fail()) {
    if (predicate.can_fail()) return site.stop("one_error");
    if (!site.errors_may_go()) return site.stop("uncounted_errors");
  }
  PlanPtr out = map.inputs[0];
  if (is_identity(*split.first)) {
    out = with_function(
        *node, out, from_leaves(predicate, split.first->output, split.leaf_of_result), node->args);
  } else {
    Attrs first = map.args;
    first.set("num_parallel_calls", Attr::automatic());
    out = with_function(map, out, split.first, std::move(first));
    out = with_function(*node, out, from_leaves(predicate, out->spec, split.leaf_of_result),
                        node->args);
  }
  return with_function(map, std::move(out), split.rest, map.args);
}

}  // namespace

const Rule kFilterFirst{"filter_first", "a filter goes before what it does not look at",
                        "range(9) | map(x -> {a: x, b: sum(exp(fill([9], float32(x))))}) "
                        "| filter({a, **_} -> a < 3)",
                        apply, kFilterFirstConditions};

}  // namespace penstock
