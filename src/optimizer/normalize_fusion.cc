// normalize_fusion: (image - mean) / deviation, each a constant per channel, becomes
// normalize(image, mean, deviation): one pass over the pixels with the same operations in the same
// order, so the same bits.

#include <algorithm>

#include "functions/value_uses.h"
#include "optimizer/rule.h"

namespace penstock {
namespace {

constexpr RuleCondition kNormalizeFusionConditions[] = {
    {"per_channel",
     "mean and deviation are constants with an entry for each channel of a float32 image",
     "range(3) | map(i -> (resize(uint8(fill([8, 8, 3], i)), [4, 4]) - 1.0) / [4.0, 5.0, 6.0])"},
    {"one_use", "nothing else looks at the difference",
     "range(3) | map(i -> let d = resize(uint8(fill([8, 8, 3], i)), [4, 4]) - [1.0, 2.0, 3.0]; "
     "(d, d / [4.0, 5.0, 6.0]))"},
};

// A float32 constant with one entry for each channel.
bool per_channel(const Tensor* value, int64_t channels) {
  return value && value->dtype() == DType::float32 && value->dims().rank() == 1 &&
         value->dims()[0] == channels;
}

PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (!node->is("map")) return nullptr;
  const Function& f = *node->function("f");
  if (!calls_op(f, "divide") && !calls_op(f, "normalize")) return nullptr;
  const std::vector<int> uses = count_uses(f);
  bool changed = false;
  FunctionPtr fused = rebuild(f, [&](const FunctionNode& n, const std::vector<ValueId>& inputs,
                                     FunctionBuilder* b, std::vector<ValueId>* outputs) {
    if (n.is("normalize") && uses[static_cast<size_t>(n.inputs[0])] == 1) {
      const FunctionNode* flip = b->producer(inputs[0]);
      if (!flip || !flip->is("random_flip_left_right")) return false;
      const ValueId image = flip->inputs[0];
      const LeafSpec& type = b->type(image);
      const bool fits = type.is_tensor() &&
                        (type.dtype == DType::float32 || type.dtype == DType::uint8) &&
                        type.shape.rank() == 3 && type.shape[2] >= 1 &&
                        per_channel(b->constant(inputs[1]), type.shape[2]) &&
                        per_channel(b->constant(inputs[2]), type.shape[2]);
      if (!fits) return false;
      Attrs seed;
      seed.set("seed", flip->attrs["seed"]);
      b->add_op(known_op("random_flip_normalize"), {image, inputs[1], inputs[2]}, std::move(seed),
                outputs);
      changed = true;
      return true;
    }
    if (!n.is("divide")) return false;
    const FunctionNode* difference = b->producer(inputs[0]);
    if (!difference || !difference->is("subtract")) return false;
    const ValueId image = difference->inputs[0], mean = difference->inputs[1];
    const LeafSpec& type = b->type(image);
    if (!type.is_tensor() || type.dtype != DType::float32 || type.shape.rank() != 3 ||
        type.shape[2] < 1)
      return false;
    if (!per_channel(b->constant(mean), type.shape[2]) ||
        !per_channel(b->constant(inputs[1]), type.shape[2])) {
      site.stop("per_channel");
      return false;
    }
    if (uses[static_cast<size_t>(n.inputs[0])] != 1) {
      site.stop("one_use");
      return false;
    }
    b->add_op(known_op("normalize"), {image, mean, inputs[1]}, {}, outputs);
    changed = true;
    return true;
  });
  return changed ? make_node("map", node->inputs, node->args, {{"f", std::move(fused)}}, node->span)
                 : nullptr;
}

}  // namespace

const Rule kNormalizeFusion{"normalize_fusion", "(image - mean) / deviation in one pass",
                            "range(3) | map(i -> (resize(uint8(fill([8, 8, 3], i)), [4, 4]) - "
                            "[1.0, 2.0, 3.0]) / [4.0, 5.0, 6.0])",
                            apply, kNormalizeFusionConditions};

}  // namespace penstock
