// cast_crop_order: what picks pixels goes before what converts them, where the result is the same
// bit for bit: crop(float32(x)) becomes float32(crop(x)), likewise flips; resize reads 8-bit pixels
// itself, so a cast to float32 right before it goes; shape(float32(x)) is shape(x).

#include "optimizer/rule.h"

namespace penstock {
namespace {

bool picks_pixels(const FunctionNode& node) {
  for (const std::string_view name : {"crop_to_bounding_box", "crop", "flip_left_right",
                                      "flip_up_down", "random_flip_left_right", "random_crop"}) {
    if (node.is(name)) return true;
  }
  return false;
}

// The cast that made the value, when it widens 8-bit pixels to float32; null otherwise.
const FunctionNode* pixel_cast(FunctionBuilder* builder, ValueId id) {
  const FunctionNode* made = builder->producer(id);
  if (!made || !made->is("cast") || made->attrs["dtype"].as_dtype() != DType::float32)
    return nullptr;
  return builder->type(made->inputs[0]).dtype == DType::uint8 ? made : nullptr;
}

PlanPtr apply(const PlanPtr& node) {
  if (!node->is("map") || !calls_op(*node->function("f"), "cast")) return nullptr;
  bool changed = false;
  FunctionPtr f =
      rebuild(*node->function("f"), [&](const FunctionNode& n, const std::vector<ValueId>& inputs,
                                        FunctionBuilder* builder, std::vector<ValueId>* outputs) {
        if (n.kind != FunctionNode::Kind::op || inputs.empty()) return false;
        const FunctionNode* cast = pixel_cast(builder, inputs[0]);
        if (!cast) return false;
        const bool bilinear = n.is("resize") && n.attrs["method"].as_string() == "bilinear";
        if (!picks_pixels(n) && !bilinear && !n.is("shape")) return false;
        std::vector<ValueId> direct = inputs;
        direct[0] = cast->inputs[0];
        const Attrs cast_attrs = cast->attrs;
        builder->add_op(*n.op, direct, n.attrs, outputs);
        if (picks_pixels(n)) {
          const std::vector<ValueId> picked = *outputs;
          builder->add_op(known_op("cast"), picked, cast_attrs, outputs);
        }
        changed = true;
        return true;
      });
  return changed ? make_node("map", node->inputs, node->args, {{"f", std::move(f)}}, node->span)
                 : nullptr;
}

}  // namespace

const Rule kCastCropOrder{"cast_crop_order", "crops and flips go before casts of pixels", apply};

}  // namespace penstock
