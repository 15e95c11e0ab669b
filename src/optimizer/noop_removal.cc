// noop_removal: stages that change nothing go: take(-1), skip(0), repeat(1), map(x -> x),
// prefetch(0), filter(x -> true).

#include "optimizer/rule.h"
#include "plan/noop.h"

namespace penstock {
namespace {

PlanPtr apply(const PlanPtr& node) {
  if (changes_nothing(*node)) return node->inputs[0];
  if (node->is("filter") &&
      node->inputs[0]->cardinality == kUnknown) {  // otherwise the cardinality would change
    const Function& f = *node->function("predicate");
    const FunctionNode* made = f.producer(f.results[0]);
    const bool always = made && made->kind == FunctionNode::Kind::constant &&
                        made->constant.dims().rank() == 0 && made->constant.entry<bool>();
    if (always) return node->inputs[0];
  }
  return nullptr;
}

}  // namespace

const Rule kNoopRemoval{"noop_removal", "stages that change nothing go", apply};

}  // namespace penstock
