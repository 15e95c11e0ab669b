#include "functions/kernels/image/image_ops.h"

#include <string>
#include <type_traits>
#include <vector>

#include "functions/kernels/families.h"

namespace penstock {

Dims Images::dims(int64_t height, int64_t width) const {
  const Dims one{height, width, size.channels};
  return batch ? one.with_front(count) : one;
}

Images images_in(std::string_view op, const Tensor& tensor) {
  const Dims& dims = tensor.dims();
  const int rank = dims.rank();
  if (rank != 3 && rank != 4) {
    throw Error(Code::invalid_argument, std::string(op) + ": expected an image [height, width, " +
                                            "channels], got shape " + dims.text());
  }
  Images images;
  images.batch = rank == 4;
  if (images.batch) images.count = dims[0];
  images.size = {dims[rank - 3], dims[rank - 2], dims[rank - 1]};
  return images;
}

const LeafSpec& infer_image(const InferContext& context, int i) {
  const LeafSpec& type = context.tensor(i);
  if (type.dtype == DType::bytes) {
    context.fail(
        i, "is " + type.text() + ", expected uint8[?, ?, 3]; decode it first: decode_jpeg(image)");
  }
  if (type.shape.has_rank() && type.shape.rank() != 3 && type.shape.rank() != 4) {
    const char* hint = type.shape.rank() == 2 ? "; add the channel first: image[:, :, none]" : "";
    context.fail(i, "is " + type.text() + ", expected an image [height, width, channels]" + hint);
  }
  return type;
}

Shape with_image_size(const Shape& shape, int64_t height, int64_t width) {
  if (!shape.has_rank()) return shape;
  std::vector<int64_t> sizes = shape.sizes();
  sizes[sizes.size() - 3] = height;
  sizes[sizes.size() - 2] = width;
  return Shape(std::move(sizes));
}

void check_integers(const InferContext& context, int i, int64_t count, std::string_view names) {
  const LeafSpec& type = context.tensor(i);
  const Shape& shape = type.shape;
  const bool fits = !shape.has_rank() ||
                    (shape.rank() == 1 && (shape[0] == Shape::kUnknown || shape[0] == count));
  if (is_integer(type.dtype) && fits) return;
  context.fail(i, "is " + type.text() + ", expected int64[" + std::to_string(count) +
                      "]: " + std::string(names));
}

void read_integers(std::string_view op, const Tensor& tensor, std::span<int64_t> out) {
  const auto count = static_cast<int64_t>(out.size());
  if (tensor.dims().rank() != 1 || tensor.entries_count() != count) {
    throw Error(Code::invalid_argument, std::string(op) + ": expected " + std::to_string(count) +
                                            " integers, got shape " + tensor.dims().text());
  }
  for (size_t i = 0; i < out.size(); ++i) out[i] = integer_at(tensor, static_cast<int64_t>(i));
}

void check_number(const InferContext& context, int i) {
  const LeafSpec& type = context.tensor(i);
  if (is_number(type.dtype) && (!type.shape.has_rank() || type.shape.rank() == 0)) return;
  context.fail(i, "is " + type.text() + ", expected a number");
}

void check_contents(const InferContext& context, int i) {
  const LeafSpec& type = context.tensor_of(i, DType::bytes);
  if (type.shape.has_rank() && type.shape.rank() != 0) {
    context.fail(i, "is " + type.text() + ", expected bytes: one file; decode before batching");
  }
}

Spec infer_same_image(const InferContext& context) { return Spec::of(infer_image(context, 0)); }

RandomStream row_stream(const RowCall& call) {
  return RandomStream(static_cast<uint64_t>(call.attrs["seed"].as_int()), call.row.epoch,
                      call.row.lineage, call.row.round);
}

OpDef image_op(std::string name, std::vector<Param> params, std::string doc,
               Spec (*infer)(const InferContext&), RowKernel row, double cost_ns) {
  OpDef op;
  op.name = std::move(name);
  op.params = std::move(params);
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.can_fail = true;
  op.large_rows = true;
  op.cost_ns = cost_ns;
  op.group = "image";
  return op;
}

OpDef random_image_op(std::string name, std::vector<Param> params, std::string doc,
                      Spec (*infer)(const InferContext&), RowKernel row, double cost_ns) {
  params.push_back(option("seed", Param::Kind::integer, {}));
  OpDef op = image_op(std::move(name), std::move(params), std::move(doc), infer, row, cost_ns);
  op.effects = Effects::random;
  return op;
}

Param max_pixels_option() {
  return option("max_pixels", Param::Kind::integer, Attr::integer(kMaxImagePixels));
}

std::string side_text(int64_t height, int64_t width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

void check_output_size(std::string_view op, int64_t height, int64_t width) {
  constexpr int64_t kLongest = (1 << 24) - 1;
  if (height > 0 && width > 0 && height <= kLongest && width <= kLongest) return;
  throw Error(Code::invalid_argument, std::string(op) + ": output size must be between 1 and " +
                                          std::to_string(kLongest) + ": " +
                                          side_text(height, width));
}

Tensor to_float32(const Tensor& tensor) {
  if (tensor.dtype() == DType::float32) return tensor;
  Tensor out = Tensor::make(DType::float32, tensor.dims());
  auto* to = out.mutable_entries<float>();
  const int64_t count = tensor.entries_count();
  visit_dtype(tensor.dtype(), [&]<typename T>(TypeTag<T>) {
    const T* from = tensor.entries<T>();
    if constexpr (std::is_arithmetic_v<T>) {
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
    } else if constexpr (!std::is_same_v<T, BytesView>) {
      for (int64_t i = 0; i < count; ++i) to[i] = to_float(from[i]);
    } else {
      throw Error(Code::invalid_argument, "expected numbers, got bytes");
    }
  });
  return out;
}

void add_image_ops(OpRegistry* registry) {
  add_jpeg_ops(registry);
  add_decode_ops(registry);
  add_decode_crop_resize_op(registry);
  add_image_shape_ops(registry);
  add_encode_ops(registry);
  add_crop_ops(registry);
  add_resize_ops(registry);
  add_pillow_resize_op(registry);
  add_image_normalize_op(registry);
  add_convert_image_op(registry);
  add_place_ops(registry);
  add_rot90_op(registry);
  add_crop_and_resize_op(registry);
  add_patches_op(registry);
  add_color_space_ops(registry);
  add_adjust_ops(registry);
  add_standardize_ops(registry);
  add_affine_ops(registry);
  add_tone_ops(registry);
  add_blur_ops(registry);
  add_erase_ops(registry);
  add_random_resized_crop_ops(registry);
  add_box_ops(registry);
  add_match_anchors_op(registry);
  add_box_motion_ops(registry);
  add_draw_boxes_op(registry);
  add_random_image_ops(registry);
}

}  // namespace penstock
