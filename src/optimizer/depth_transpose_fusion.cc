// depth_transpose_fusion: transpose(space_to_depth(x, b), perm) moves each entry once: x with its
// blocks as axes of their own, transposed, and the axes of a pixel joined again, which costs
// nothing.

#include <algorithm>

#include "functions/value_uses.h"
#include "optimizer/rule.h"

namespace penstock {
namespace {

constexpr RuleCondition kDepthTransposeFusionConditions[] = {
    {"one_use", "nothing else looks at what space_to_depth gives",
     "range(2) | map(x -> reshape(float32(arange(48) + x), [4, 4, 3])) | batch(2, "
     "drop_remainder=true) "
     "| map(x -> let d = space_to_depth(x, 2); (d, transpose(d, [1, 2, 3, 0])))"},
    {"known_sizes", "the order of the axes and all sizes are known before the run",
     "range(3) | map(x -> reshape(float32(arange(48) + x), [4, 4, 3])) | batch(2) "
     "| map(x -> transpose(space_to_depth(x, 2), [1, 2, 3, 0]))"},
};

ValueId reshaped(FunctionBuilder* b, ValueId x, const std::vector<int64_t>& sizes) {
  std::vector<ValueId> out;
  const ValueId shape = b->add_constant(Tensor::vector<int64_t>(std::span(sizes)));
  b->add_op(known_op("reshape"), {x, shape}, {}, &out);
  return out[0];
}

// The order of axes that `node` asks for, from 0 on; empty when it is not known to be one.
std::vector<int64_t> order_of(const FunctionNode& node, int rank) {
  std::vector<int64_t> order;
  if (node.attrs["perm"].is_none()) {
    for (int i = rank; i-- > 0;) order.push_back(i);
    return order;
  }
  for (const int64_t axis : node.attrs["perm"].as_ints())
    order.push_back(axis < 0 ? axis + rank : axis);
  std::vector<int64_t> sorted = order;
  std::ranges::sort(sorted);
  for (int i = 0; i < static_cast<int>(sorted.size()); ++i) {
    if (sorted[static_cast<size_t>(i)] != i) return {};
  }
  return static_cast<int>(order.size()) == rank ? order : std::vector<int64_t>();
}

PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (!node->is("map")) return nullptr;
  const Function& f = *node->function("f");
  if (!calls_op(f, "space_to_depth")) return nullptr;
  const std::vector<int> uses = count_uses(f);
  bool changed = false;
  FunctionPtr fused = rebuild(f, [&](const FunctionNode& n, const std::vector<ValueId>& inputs,
                                     FunctionBuilder* b, std::vector<ValueId>* outputs) {
    if (!n.is("transpose")) return false;
    const FunctionNode* moved = b->producer(inputs[0]);
    if (!moved || !moved->is("space_to_depth")) return false;
    if (uses[static_cast<size_t>(n.inputs[0])] != 1) {
      site.stop("one_use");
      return false;
    }
    const ValueId x = moved->inputs[0];
    const LeafSpec& type = b->type(x);
    if (!type.is_tensor()) return false;
    if (!type.shape.has_rank()) {
      site.stop("known_sizes");
      return false;
    }
    const int rank = type.shape.rank();
    const std::vector<int64_t> order = order_of(n, rank);
    const std::vector<int64_t> sizes = type.shape.sizes();
    if (order.empty() || std::ranges::count(sizes, -1) > 0) {
      site.stop("known_sizes");
      return false;
    }
    const int64_t block = moved->attrs["block_size"].as_int();
    // [..., h, w, c] as [..., h / b, b, w / b, b, c], of which the depth is b, b, c.
    const auto first = static_cast<size_t>(rank - 3);
    std::vector<int64_t> split(sizes.begin(), sizes.end() - 3), axes, joined;
    for (const int64_t part :
         {sizes[first] / block, block, sizes[first + 1] / block, block, sizes[first + 2]})
      split.push_back(part);
    for (const int64_t axis : order) {
      const int64_t inner = axis - (rank - 3);
      joined.push_back(axis < rank - 3 ? sizes[static_cast<size_t>(axis)]
                       : inner == 2    ? block * block * sizes[first + 2]
                                       : sizes[static_cast<size_t>(axis)] / block);
      if (inner == 2) {
        for (const int64_t part : {rank - 2, rank, rank + 1}) axes.push_back(part);
      } else {
        axes.push_back(inner == 1 ? rank - 1 : axis);
      }
    }
    Attrs perm;
    std::vector<Attr> list;
    for (const int64_t axis : axes) list.push_back(Attr::integer(axis));
    perm.set("perm", Attr::list(std::move(list)));
    std::vector<ValueId> turned;
    b->add_op(known_op("transpose"), {reshaped(b, x, split)}, std::move(perm), &turned);
    *outputs = {reshaped(b, turned[0], joined)};
    changed = true;
    return true;
  });
  return changed ? make_node("map", node->inputs, node->args, {{"f", std::move(fused)}}, node->span)
                 : nullptr;
}

}  // namespace

const Rule kDepthTransposeFusion{"depth_transpose_fusion",
                                 "space_to_depth and the transpose after it in one pass",
                                 "range(2) | map(x -> reshape(float32(arange(48) + x), [4, 4, 3])) "
                                 "| batch(2, drop_remainder=true) "
                                 "| map(x -> transpose(space_to_depth(x, 2), [1, 2, 3, 0]))",
                                 apply, kDepthTransposeFusionConditions};

}  // namespace penstock
