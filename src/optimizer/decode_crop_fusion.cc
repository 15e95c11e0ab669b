// decode_crop_fusion: crop(decode_jpeg(x), window) becomes decode_and_crop_jpeg(x, window), which
// decodes only the rows and columns of the window, bit for bit the same.
//
// The size of the image, where it was taken from the decoded one, comes from the file's header. The
// rule applies where nothing else looks at the decoded image. The rest of the file is checked all
// the same, which takes no pixels: what decode_jpeg refuses stays refused.

#include <algorithm>
#include <map>

#include "optimizer/rule.h"

namespace penstock {
namespace {

constexpr RuleCondition kDecodeCropFusionConditions[] = {
    {"one_crop", "nothing looks at the whole image but one crop, and what asks for its shape",
     "range(3) | map(i -> encode_jpeg(uint8(fill([16, 16, 3], i)))) "
     "| map(b -> let i = decode_jpeg(b, channels=3); (i, crop_to_bounding_box(i, 0, 0, 2, 2)))"},
    {"as_stored", "decode_jpeg has no `ratio` and no `exif_orientation`",
     "range(3) | map(i -> encode_jpeg(uint8(fill([16, 16, 3], i)))) "
     "| map(b -> crop_to_bounding_box(decode_jpeg(b, channels=3, ratio=2), 1, 2, 3, 4))"},
};

bool is_crop(const FunctionNode& node) {
  return node.is("crop_to_bounding_box") || node.is("crop");
}

// Decoded images whose only users are one crop and any number of shapes.
std::vector<ValueId> fusible(const Function& f, RuleSite& site) {
  std::vector<ValueId> out;
  for (const FunctionNode& node : f.nodes) {
    if (!node.is("decode_jpeg")) continue;
    const bool as_stored =
        node.attrs["ratio"].as_int() == 1 && !node.attrs["exif_orientation"].as_bool();
    const ValueId image = node.outputs[0];
    int crops = 0, others = std::ranges::count(f.results, image) > 0 ? 1 : 0;
    for (const FunctionNode& user : f.nodes) {
      const auto uses = std::ranges::count(user.inputs, image);
      if (uses == 0 || user.is("shape")) continue;
      if (is_crop(user) && user.inputs[0] == image && uses == 1) {
        ++crops;
      } else {
        ++others;
      }
    }
    if (crops > 0 && !as_stored) {
      site.stop("as_stored");
    } else if (crops == 1 && others == 0) {
      out.push_back(image);
    } else if (crops > 0) {
      site.stop("one_crop");
    }
  }
  return out;
}

// [height, width, channels] of the decoded image from the file's header, int64.
ValueId shape_from_header(FunctionBuilder* b, ValueId contents, int64_t channels) {
  std::vector<ValueId> out;
  b->add_op(known_op("image_shape"), {contents}, {}, &out);
  if (channels == 0) return out[0];
  Attrs first_two;
  first_two.set("pieces",
                Attr::list({Attr::tuple({Attr::text("slice"), Attr(), Attr::integer(2), Attr()})}));
  b->add_op(known_op("subscript"), {out[0]}, first_two, &out);
  const ValueId last = b->add_constant(Tensor::vector<int64_t>(std::span(&channels, 1)));
  Attrs axis;
  axis.set("axis", Attr::integer(0));
  b->add_op(known_op("concat"), {out[0], last}, axis, &out);
  return out[0];
}

PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (!node->is("map")) return nullptr;
  const Function& f = *node->function("f");
  const std::vector<ValueId> images = fusible(f, site);
  if (images.empty()) return nullptr;
  std::map<ValueId, std::pair<ValueId, const Attrs*>>
      decoded;  // in the new function: contents, the decoder's options
  FunctionPtr fused = rebuild(f, [&](const FunctionNode& n, const std::vector<ValueId>& inputs,
                                     FunctionBuilder* b, std::vector<ValueId>* outputs) {
    if (n.is("decode_jpeg") && std::ranges::find(images, n.outputs[0]) != images.end()) {
      b->add_op(*n.op, inputs, n.attrs, outputs);  // goes when nobody uses it any more
      decoded[(*outputs)[0]] = {inputs[0], &n.attrs};
      return true;
    }
    if (inputs.empty() || !decoded.contains(inputs[0])) return false;
    const auto [contents, attrs] = decoded[inputs[0]];
    if (n.is("shape")) {
      *outputs = {shape_from_header(b, contents, (*attrs)["channels"].as_int())};
      return true;
    }
    if (!is_crop(n)) return false;
    ValueId window = inputs[1];
    if (n.is("crop_to_bounding_box")) {
      std::vector<ValueId> parts;
      Attrs to_int64, axis;
      to_int64.set("dtype", Attr::of(DType::int64));
      for (size_t i = 1; i < 5; ++i) {
        std::vector<ValueId> part{inputs[i]};
        if (b->type(inputs[i]).dtype != DType::int64)
          b->add_op(known_op("cast"), {inputs[i]}, to_int64, &part);
        parts.push_back(part[0]);
      }
      axis.set("axis", Attr::integer(0));
      std::vector<ValueId> stacked;
      b->add_op(known_op("stack"), parts, axis, &stacked);
      window = stacked[0];
    }
    Attrs kept;
    for (const auto& [name, value] : *attrs) {
      if (name != "exif_orientation") kept.set(name, value);
    }
    kept.set("check_rest", Attr::boolean(true));
    b->add_op(known_op("decode_and_crop_jpeg"), {contents, window}, std::move(kept), outputs);
    return true;
  });
  return make_node("map", node->inputs, node->args, {{"f", std::move(fused)}}, node->span);
}

}  // namespace

const Rule kDecodeCropFusion{
    "decode_crop_fusion", "only the window of a JPEG that is used is decoded",
    "range(3) | map(i -> encode_jpeg(uint8(fill([16, 16, 3], i)))) "
    "| map(b -> crop_to_bounding_box(decode_jpeg(b, channels=3), 1, 2, 3, 4))",
    apply, kDecodeCropFusionConditions};

}  // namespace penstock
