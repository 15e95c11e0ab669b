// cast_crop_order: what picks pixels goes before what converts them, where the result is the same
// bit for bit: crop(float32(x)) becomes float32(crop(x)), likewise flips; resize reads 8-bit pixels
// itself, so a cast to float32 right before it goes; shape(float32(x)) is shape(x).

#include "optimizer/rule.h"

namespace penstock {
namespace {

constexpr RuleCondition kCastCropOrderConditions[] = {
    {"pixels", "the cast is from uint8 to float32",
     "range(3) | map(i -> crop_to_bounding_box(float64(uint8(fill([8, 8, 3], i))), 1, 2, 3, 4))"},
    {"bilinear", "the resize is bilinear, to float32",
     "range(3) | map(i -> resize(float32(uint8(fill([8, 8, 3], i))), [4, 4], method=\"nearest\"))"},
};

bool picks_pixels(const FunctionNode& node) {
  for (const std::string_view name : {"crop_to_bounding_box", "crop", "flip_left_right",
                                      "flip_up_down", "random_flip_left_right", "random_crop"}) {
    if (node.is(name)) return true;
  }
  return false;
}

// Widens 8-bit pixels to float32.
bool is_pixel_cast(const FunctionNode& cast, const FunctionBuilder& builder) {
  return cast.attrs["dtype"].as_dtype() == DType::float32 &&
         builder.type(cast.inputs[0]).dtype == DType::uint8;
}

PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (!node->is("map") || !calls_op(*node->function("f"), "cast")) return nullptr;
  bool changed = false;
  FunctionPtr f =
      rebuild(*node->function("f"), [&](const FunctionNode& n, const std::vector<ValueId>& inputs,
                                        FunctionBuilder* builder, std::vector<ValueId>* outputs) {
        if (n.kind != FunctionNode::Kind::op || inputs.empty()) return false;
        if (!picks_pixels(n) && !n.is("resize") && !n.is("shape")) return false;
        const FunctionNode* cast = builder->producer(inputs[0]);
        if (!cast || !cast->is("cast")) return false;
        if (!is_pixel_cast(*cast, *builder)) {
          site.stop("pixels");
          return false;
        }
        if (n.is("resize") &&
            (n.attrs["method"].as_string() != "bilinear" || n.attrs["keep_dtype"].as_bool())) {
          site.stop("bilinear");
          return false;
        }
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

const Rule kCastCropOrder{
    "cast_crop_order", "crops and flips go before casts of pixels",
    "range(3) | map(i -> crop_to_bounding_box(float32(uint8(fill([8, 8, 3], i))), 1, 2, 3, 4))",
    apply, kCastCropOrderConditions};

}  // namespace penstock
