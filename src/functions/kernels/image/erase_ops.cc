// cutout, random_erasing and random_flip_up_down.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "functions/kernels/image/bounding_box.h"
#include "functions/kernels/image/image_ops.h"
#include "functions/kernels/image/random_window.h"
#include "functions/kernels/math/convert.h"

namespace penstock {
namespace {

void check_one(const char* op, const Tensor& image) {
  if (image.dims().rank() == 3) return;
  throw Error(Code::invalid_argument,
              std::string(op) + ": expected one image, got shape " + image.dims().text());
}

Spec infer_one(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  if (image.shape.has_rank() && image.shape.rank() != 3) {
    context.fail(0, "is " + image.text() + ", expected one image; erase before batching");
  }
  if (!is_number(image.dtype)) context.fail(0, "is " + image.text() + ", expected numbers");
  return Spec::of(image);
}

Spec infer_cutout(const InferContext& context) {
  check_number(context, 1);
  return infer_one(context);
}

// A copy of the image with the window, which may reach outside, set to `fill`.
void erase(const RowCall& call, const Window& window, double fill) {
  const Tensor& image = call.inputs[0];
  const ImageSize size{image.dims()[0], image.dims()[1], image.dims()[2]};
  std::byte* to = call.outputs[0].allocate(image.dims());
  if (image.entries_count() == 0) return;
  std::memcpy(to, image.data(), static_cast<size_t>(image.data_bytes()));
  const int64_t top = std::max<int64_t>(0, window.y), left = std::max<int64_t>(0, window.x);
  const int64_t bottom = std::min(size.height, window.y + window.height);
  const int64_t right = std::min(size.width, window.x + window.width);
  if (left >= right) return;
  const Tensor value = converted(Tensor::scalar(fill), image.dtype());
  const int64_t entry = dtype_size(image.dtype());
  for (int64_t y = top; y < bottom; ++y) {
    std::byte* row = to + (y * size.width + left) * size.channels * entry;
    for (int64_t i = 0; i < (right - left) * size.channels; ++i) {
      std::memcpy(row + i * entry, value.data(), static_cast<size_t>(entry));
    }
  }
}

void cutout_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  check_one("cutout", image);
  const int64_t side = integer_at(call.inputs[1]);
  if (side < 0) {
    throw Error(Code::invalid_argument,
                "cutout: size must not be negative: " + std::to_string(side));
  }
  RandomStream stream = row_stream(call);
  const int64_t height = image.dims()[0], width = image.dims()[1];
  if (height == 0 || width == 0) return call.outputs[0].set(image);
  const auto y = static_cast<int64_t>(stream.next_below(static_cast<uint64_t>(height)));
  const auto x = static_cast<int64_t>(stream.next_below(static_cast<uint64_t>(width)));
  erase(call, {y - side / 2, x - side / 2, side, side}, call.attrs["fill"].as_float());
}

void erasing_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  check_one("random_erasing", image);
  RandomStream stream = row_stream(call);
  if (!(stream.next_double() < call.attrs["probability"].as_float())) {
    return call.outputs[0].set(image);
  }
  const NumberPair scale = read_number_pair(call.attrs, "scale");
  const NumberPair ratio = read_number_pair(call.attrs, "ratio");
  const int64_t height = image.dims()[0], width = image.dims()[1];
  const Window window = draw_window(height, width, scale, ratio, &stream);
  if (window.height == 0) return call.outputs[0].set(image);
  erase(call, window, call.attrs["fill"].as_float());
}

Spec infer_erasing(const InferContext& context) {
  read_number_pair(context.attrs, "scale");
  read_number_pair(context.attrs, "ratio");
  return infer_one(context);
}

void flip_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in("random_flip_up_down", image);
  RandomStream stream = row_stream(call);
  const int64_t row_bytes = images.size.width * images.size.channels * dtype_size(image.dtype());
  const int64_t height = images.size.height;
  std::byte* to = call.outputs[0].allocate(image.dims());
  for (int64_t n = 0; n < images.count && row_bytes > 0; ++n) {
    const bool flip = (stream.next_uint32() >> 31) != 0;
    for (int64_t y = 0; y < height; ++y) {
      const int64_t from = n * height + (flip ? height - 1 - y : y);
      std::memcpy(to + (n * height + y) * row_bytes, image.data() + from * row_bytes,
                  static_cast<size_t>(row_bytes));
    }
  }
}

}  // namespace

void add_erase_ops(OpRegistry* registry) {
  const Param image = required("image", Param::Kind::tensor);
  const Param fill = option("fill", Param::Kind::floating, Attr::floating(0));
  registry->add(
      random_image_op("cutout", {image, required("size", Param::Kind::tensor), fill},
                      "The image with a square of this size around a random pixel set to fill.",
                      infer_cutout, cutout_row, 3e4));
  registry->add(random_image_op(
      "random_erasing",
      {image, option("probability", Param::Kind::floating, Attr::floating(0.5)),
       option("scale", Param::Kind::any, number_pair(0.02, 0.33)),
       option("ratio", Param::Kind::any, number_pair(0.3, 3.3)), fill},
      "The image, with this probability with a random window of this share of its area set to "
      "fill.",
      infer_erasing, erasing_row, 3e4));
  registry->add(random_image_op("random_flip_up_down", {image},
                                "The image, upside down with probability 1/2.", infer_same_image,
                                flip_row, 2e4));
}

}  // namespace penstock
