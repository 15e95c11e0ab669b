// noop_removal: stages that change nothing go: take(-1), skip(0), repeat(1), map(x -> x),
// prefetch(0), filter(x -> true).

#include "optimizer/rule.h"
#include "plan/noop.h"

namespace penstock {
namespace {

constexpr RuleCondition kNoopRemovalConditions[] = {
    {"unknown_count", "the number of elements below filter(x -> true) is not known",
     "range(9) | filter(x -> true)"},
};

PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (changes_nothing(*node)) return node->inputs[0];
  if (node->is("filter")) {
    const Function& f = *node->function("predicate");
    const FunctionNode* made = f.producer(f.results[0]);
    const bool always = made && made->kind == FunctionNode::Kind::constant &&
                        made->constant.dims().rank() == 0 && made->constant.entry<bool>();
    if (!always) return nullptr;
    // Otherwise a number that was not known would be.
    if (node->inputs[0]->cardinality != kUnknown || site.is_nested())
      return site.stop("unknown_count");
    return node->inputs[0];
  }
  return nullptr;
}

}  // namespace

const Rule kNoopRemoval{"noop_removal", "stages that change nothing go",
                        "range(9) | take(-1) | map(x -> x) | skip(0)", apply,
                        kNoopRemovalConditions};

}  // namespace penstock
