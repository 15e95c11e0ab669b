// noop_removal: stages that change nothing go: take(-1), skip(0), repeat(1), map(x -> x),
// prefetch(0), filter(x -> true). Not shard(1, 0): its mark is where a run on one rank can be dealt
// to more (datasets/reshard.h).

#include "optimizer/rule.h"

namespace penstock {
namespace {

bool is_int(const Attr& a, int64_t value) {
  return a.is_tensor() && a.tensor().dims().rank() == 0 && a.as_int() == value;
}

PlanPtr apply(const PlanPtr& node) {
  const bool noop = (node->is("take") && is_int(node->arg("count"), -1)) ||
                    (node->is("skip") && is_int(node->arg("count"), 0)) ||
                    (node->is("repeat") && is_int(node->arg("count"), 1)) ||
                    (node->is("prefetch") && is_int(node->arg("buffer_size"), 0)) ||
                    (node->is("map") && is_identity(*node->function("f")));
  if (noop) return node->inputs[0];
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
