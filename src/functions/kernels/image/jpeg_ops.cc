// decode_jpeg, decode_and_crop_jpeg and the shape of a JPEG file as ops.
#include "functions/kernels/image/image_ops.h"

#include <algorithm>
#include <string>
#include <vector>

namespace penstock {
namespace {

void check_file(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  if (type.shape.has_rank() && type.shape.rank() != 0) {
    context.fail(0, "is " + type.text() + ", expected bytes: one file; decode before batching");
  }
}

// The size of the last axis for the attribute `channels`.
int64_t infer_channels(const InferContext& context) {
  const int64_t channels = context.attrs["channels"].as_int();
  if (channels != 0 && channels != 1 && channels != 3) {
    throw TypeError{-1, "channels",
                    "must be 0 (as stored), 1 or 3, is " + std::to_string(channels)};
  }
  return channels == 0 ? Shape::kUnknown : channels;
}

Spec infer_decode(const InferContext& context) {
  check_file(context);
  return Spec::tensor(DType::uint8,
                      Shape{Shape::kUnknown, Shape::kUnknown, infer_channels(context)});
}

Spec infer_decode_and_crop(const InferContext& context) {
  check_file(context);
  check_integers(context, 1, 4, "y, x, height, width");
  int64_t height = Shape::kUnknown, width = Shape::kUnknown;
  if (const std::vector<int64_t> window = context.known_ints(1); window.size() == 4) {
    if (window[0] < 0 || window[1] < 0 || window[2] <= 0 || window[3] <= 0) {
      context.fail(1, "must be y, x, height, width with y, x >= 0 and height, width > 0");
    }
    height = window[2];
    width = window[3];
  }
  return Spec::tensor(DType::uint8, Shape{height, width, infer_channels(context)});
}

auto pixels_of(OutputSlot& slot) {
  return [&slot](ImageSize size) {
    return slot.allocate_as<uint8_t>({size.height, size.width, size.channels});
  };
}

void decode_row(const RowCall& call) {
  const auto channels = static_cast<int>(call.attrs["channels"].as_int());
  thread_jpeg_decoder().decode(bytes_at(call.inputs[0]), channels, pixels_of(call.outputs[0]));
}

void decode_and_crop_row(const RowCall& call) {
  const auto channels = static_cast<int>(call.attrs["channels"].as_int());
  int64_t window[4];
  read_integers("decode_and_crop_jpeg", call.inputs[1], window);
  thread_jpeg_decoder().decode_window(bytes_at(call.inputs[0]), window[0], window[1], window[2],
                                      window[3], channels, pixels_of(call.outputs[0]));
}

Spec infer_shape(const InferContext& context) {
  check_file(context);
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (dtype != DType::int32 && dtype != DType::int64) {
    throw TypeError{-1, "dtype", "must be int32 or int64, is " + std::string(dtype_name(dtype))};
  }
  return Spec::tensor(dtype, Shape{3});
}

void shape_row(const RowCall& call) {
  const ImageSize size = jpeg_shape(bytes_at(call.inputs[0]));
  const int64_t sizes[3] = {size.height, size.width, size.channels};
  OutputSlot& slot = call.outputs[0];
  if (slot.dtype() == DType::int64) {
    std::copy_n(sizes, 3, slot.allocate_as<int64_t>({3}));
  } else {
    auto* to = slot.allocate_as<int32_t>({3});
    for (int i = 0; i < 3; ++i) to[i] = static_cast<int32_t>(sizes[i]);
  }
}

OpDef shape_op(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.params = {required("contents", Param::Kind::tensor),
               option("dtype", Param::Kind::dtype, Attr::of(DType::int32))};
  op.doc = "Height, width and channels of a JPEG file, from its headers alone.";
  op.infer = infer_shape;
  op.row = shape_row;
  op.can_fail = true;
  op.cost_ns = 300;
  op.group = "image";
  return op;
}

}  // namespace

void add_jpeg_ops(OpRegistry* registry) {
  OpDef decode;
  decode.name = "decode_jpeg";
  decode.params = {required("contents", Param::Kind::tensor),
                   optional("channels", Param::Kind::integer, Attr::integer(0))};
  decode.doc = "Pixels of a JPEG file; channels: 0 as stored, 1 grey, 3 RGB.";
  decode.infer = infer_decode;
  decode.row = decode_row;
  decode.can_fail = true;
  decode.large_rows = true;
  decode.cost_ns = 1.2e6;
  decode.group = "image";

  OpDef window = decode;
  window.name = "decode_and_crop_jpeg";
  window.params.insert(window.params.begin() + 1, required("crop_window", Param::Kind::tensor));
  window.doc = "Pixels of the window [y, x, height, width] of a JPEG file; decodes little else.";
  window.infer = infer_decode_and_crop;
  window.row = decode_and_crop_row;
  window.cost_ns = 8e5;

  registry->add(std::move(decode));
  registry->add(std::move(window));
  registry->add(shape_op("extract_jpeg_shape"));
  registry->add(shape_op("jpeg_shape"));
}

}  // namespace penstock
