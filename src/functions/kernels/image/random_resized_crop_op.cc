// random_resized_crop, and random_crop_window, its first half.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"
#include "functions/kernels/image/pixels.h"
#include "functions/kernels/image/random_window.h"
#include "functions/kernels/image/resize.h"

namespace penstock {
namespace {

Window pick(const char* op, const RowCall& call, int64_t height, int64_t width) {
  if (height <= 0 || width <= 0) {
    throw Error(Code::invalid_argument,
                std::string(op) + ": the image is empty: " + side_text(height, width));
  }
  const NumberPair ratio = read_number_pair(call.attrs, "ratio");
  RandomStream stream = row_stream(call);
  const Window window =
      draw_window(height, width, read_number_pair(call.attrs, "scale"), ratio, &stream);
  return window.height > 0 ? window : central_window(height, width, ratio);
}

Spec infer_window(const InferContext& context) {
  const LeafSpec& size = context.tensor(0);
  context.check_rank(0, 1);
  if (!is_integer(size.dtype)) context.fail(0, "is " + size.text() + ", expected integers");
  read_number_pair(context.attrs, "scale");
  read_number_pair(context.attrs, "ratio");
  return Spec::tensor(DType::int64, Shape{4});
}

void window_row(const RowCall& call) {
  const Tensor& size = call.inputs[0];
  if (size.entries_count() < 2) {
    throw Error(Code::invalid_argument,
                "random_crop_window: expected height and width, got shape " + size.dims().text());
  }
  const Window window = pick("random_crop_window", call, integer_at(size, 0), integer_at(size, 1));
  auto* to = call.outputs[0].allocate_as<int64_t>({4});
  to[0] = window.y;
  to[1] = window.x;
  to[2] = window.height;
  to[3] = window.width;
}

Spec infer_crop(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  if (image.dtype != DType::uint8 && image.dtype != DType::float32) {
    context.fail(0, "is " + image.text() + ", expected uint8 or float32");
  }
  if (image.shape.has_rank() && image.shape.rank() != 3) {
    context.fail(0, "is " + image.text() + ", expected one image; crop before batching");
  }
  int64_t sides[2] = {Shape::kUnknown, Shape::kUnknown};
  for (int i = 0; i < 2; ++i) {
    check_number(context, 1 + i);
    const std::vector<int64_t> side = context.known_ints(1 + i);
    if (side.empty()) continue;
    if (side[0] <= 0) context.fail(1 + i, "must be positive, is " + std::to_string(side[0]));
    sides[i] = side[0];
  }
  read_number_pair(context.attrs, "scale");
  read_number_pair(context.attrs, "ratio");
  const auto method = parse_resize_method(context.attrs["method"].as_string());
  if (!method || *method == ResizeMethod::nearest) {
    throw TypeError{-1, "method",
                    "is \"" + context.attrs["method"].as_string() +
                        "\", expected bilinear, bicubic, area or lanczos3"};
  }
  if (!image.shape.has_rank()) return Spec::tensor(image.dtype, Shape::of_rank(3));
  return Spec::tensor(image.dtype, with_image_size(image.shape, sides[0], sides[1]));
}

void crop_row(const RowCall& call) {
  constexpr const char* kOp = "random_resized_crop";
  const Tensor& image = call.inputs[0];
  const ImageSize whole = images_in(kOp, image).size;
  const int64_t height = integer_at(call.inputs[1]), width = integer_at(call.inputs[2]);
  check_output_size(kOp, height, width);
  const Window window = pick(kOp, call, whole.height, whole.width);
  const Resizing how{.method = *parse_resize_method(call.attrs["method"].as_string()),
                     .antialias = call.attrs["antialias"].as_bool()};
  const ImageSize size{window.height, window.width, whole.channels};
  const int64_t entry = dtype_size(image.dtype());
  ChargedVector<std::byte> part(static_cast<size_t>(size.elements() * entry));
  crop(image.data(), whole, entry, window.y, window.x, window.height, window.width, part.data());
  const Dims dims{height, width, whole.channels};
  if (image.dtype() == DType::float32) {
    return resize_image(reinterpret_cast<const float*>(part.data()), size, height, width, how,
                        call.outputs[0].allocate_as<float>(dims));
  }
  ChargedVector<float> floats(static_cast<size_t>(dims.entries()));
  resize_image(reinterpret_cast<const uint8_t*>(part.data()), size, height, width, how,
               floats.data());
  auto* to = call.outputs[0].allocate_as<uint8_t>(dims);
  for (const float value : floats) {
    *to++ = static_cast<uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
  }
}

}  // namespace

void add_random_resized_crop_ops(OpRegistry* registry) {
  const Param scale = option("scale", Param::Kind::any, number_pair(0.08, 1.0));
  const Param ratio = option("ratio", Param::Kind::any, number_pair(3.0 / 4, 4.0 / 3));
  registry->add(random_image_op(
      "random_resized_crop",
      {required("image", Param::Kind::tensor), required("height", Param::Kind::tensor),
       required("width", Param::Kind::tensor), scale, ratio,
       option("method", Param::Kind::text, Attr::text("bilinear")),
       option("antialias", Param::Kind::boolean, Attr::boolean(false))},
      "A random window of this share of the area and this range of width / height, resized; keeps "
      "the dtype.",
      infer_crop, crop_row, 2e5));
  OpDef window = random_image_op(
      "random_crop_window", {required("image_size", Param::Kind::tensor), scale, ratio},
      "The window [y, x, height, width] of random_resized_crop for an image [height, width, ...].",
      infer_window, window_row, 300);
  window.large_rows = false;
  registry->add(std::move(window));
}

}  // namespace penstock
