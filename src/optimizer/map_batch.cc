// map_batch: map(f) | prefetch(n) | batch(b) becomes map(f) | batch(b) | prefetch(): results are
// made in their slot of the batch, without a copy.

#include "optimizer/rule.h"

namespace penstock {
namespace {

PlanPtr apply(const PlanPtr& node, RuleSite&) {
  if (!node->is("batch") || !node->inputs[0]->is("prefetch") ||
      !node->inputs[0]->inputs[0]->is("map"))
    return nullptr;
  const PlanPtr& prefetch = node->inputs[0];
  Attrs args = prefetch->args;
  args.set("buffer_size", Attr::automatic());  // it counted elements, now it would count batches
  return make_node("prefetch", {with_inputs(*node, prefetch->inputs)}, std::move(args), {},
                   prefetch->span);
}

}  // namespace

const Rule kMapBatch{"map_batch",
                     "a prefetch between map and batch goes after the batch",
                     "range(9) | map(x -> x + 1) | prefetch(3) | batch(2)",
                     apply,
                     {}};

}  // namespace penstock
