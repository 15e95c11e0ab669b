// map_fusion: map(f) | map(g) becomes map(x -> g(f(x))): one function, whose parts other rules see.
//
// Written knobs are kept: maps with different numbers of calls stay apart.

#include "optimizer/rule.h"

namespace penstock {
namespace {

PlanPtr apply(const PlanPtr& node) {
  if (!node->is("map") || !node->inputs[0]->is("map")) return nullptr;
  const PlanPtr& below = node->inputs[0];
  const Attr &calls = node->arg("num_parallel_calls"),
             &calls_below = below->arg("num_parallel_calls");
  if (!(node->arg("deterministic") == below->arg("deterministic"))) return nullptr;
  if (!(calls == calls_below) && !calls.is_auto() && !calls_below.is_auto()) return nullptr;
  Attrs args = node->args;
  args.set("num_parallel_calls", calls.is_auto() ? calls_below : calls);
  return make_node("map", below->inputs, std::move(args),
                   {{"f", compose(*below->function("f"), *node->function("f"))}}, node->span);
}

}  // namespace

const Rule kMapFusion{"map_fusion", "map(f) | map(g) becomes one map", apply};

}  // namespace penstock
