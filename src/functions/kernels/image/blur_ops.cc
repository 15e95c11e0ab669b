// gaussian_blur and sharpness.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

ChargedVector<float> gaussian(int64_t size, double sigma) {
  ChargedVector<float> weights;
  double sum = 0;
  const int64_t middle = size / 2;
  for (int64_t i = 0; i < size; ++i) {
    const double off = static_cast<double>(i - middle) / sigma;
    weights.push_back(static_cast<float>(std::exp(-off * off / 2)));
    sum += std::exp(-off * off / 2);
  }
  for (float& weight : weights) weight /= static_cast<float>(sum);
  return weights;
}

// Place i of a side that is mirrored around its first and last place.
int64_t mirrored(int64_t i, int64_t side) {
  if (side == 1) return 0;
  const int64_t period = 2 * (side - 1);
  i = ((i % period) + period) % period;
  return i < side ? i : period - i;
}

void add_times(const float* __restrict from, float weight, int64_t count, float* __restrict to) {
  for (int64_t i = 0; i < count; ++i) to[i] += from[i] * weight;
}

// Along a line of `side` places, `step` values apart.
void blur_line(const float* from, int64_t side, int64_t step, const ChargedVector<float>& weights,
               float* to) {
  const auto size = static_cast<int64_t>(weights.size());
  const int64_t middle = size / 2;
  // Places [first, last) see no border: theirs are sums of the whole line, shifted.
  const int64_t first = std::min(middle, side), last = std::max(first, side - middle);
  std::fill_n(to, side * step, 0.0f);
  const auto at_border = [&](int64_t i) {
    for (int64_t k = 0; k < size; ++k) {
      const int64_t source = mirrored(i + k - middle, side) * step;
      add_times(from + source, weights[static_cast<size_t>(k)], step, to + i * step);
    }
  };
  for (int64_t i = 0; i < first; ++i) at_border(i);
  for (int64_t i = last; i < side; ++i) at_border(i);
  for (int64_t k = 0; k < size; ++k) {
    add_times(from + (first + k - middle) * step, weights[static_cast<size_t>(k)],
              (last - first) * step, to + first * step);
  }
}

Spec infer_pixels(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  if (image.dtype != DType::uint8 && image.dtype != DType::float32) {
    context.fail(0, "is " + image.text() + ", expected uint8 or float32");
  }
  check_number(context, 1);
  return Spec::of(image);
}

Spec infer_blur(const InferContext& context) {
  const int64_t kernel = context.attrs["kernel"].as_int();
  constexpr int64_t kMost = 4095;
  if (kernel < 0 || (kernel > 0 && kernel % 2 == 0)) {
    throw TypeError{-1, "kernel", "must be odd, or 0 (from sigma), is " + std::to_string(kernel)};
  }
  if (kernel > kMost) {
    throw TypeError{-1, "kernel",
                    "must be at most " + std::to_string(kMost) + ", is " + std::to_string(kernel)};
  }
  return infer_pixels(context);
}

void blur_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in("gaussian_blur", image);
  const double sigma = number_at(call.inputs[1]);
  if (!(sigma > 0) || sigma > 1000) {
    throw Error(Code::invalid_argument,
                "gaussian_blur: sigma must be above 0 and at most 1000: " + std::to_string(sigma));
  }
  const int64_t given = call.attrs["kernel"].as_int();
  const int64_t size = given > 0 ? given : 2 * static_cast<int64_t>(std::ceil(3 * sigma)) + 1;
  const ChargedVector<float> weights = gaussian(size, sigma);
  const Tensor floats = to_float32(image);
  const ImageSize& in = images.size;
  const int64_t line = in.width * in.channels;
  std::byte* out = call.outputs[0].allocate(image.dims());
  if (in.elements() == 0) return;
  Tensor across = Tensor::make(DType::float32, {in.elements()});
  ChargedVector<float> sums(static_cast<size_t>(line));
  for (int64_t n = 0; n < images.count; ++n) {
    const float* from = floats.entries<float>() + n * in.elements();
    auto* blurred = across.mutable_entries<float>();
    for (int64_t y = 0; y < in.height; ++y)
      blur_line(from + y * line, in.width, in.channels, weights, blurred + y * line);
    for (int64_t y = 0; y < in.height; ++y) {
      std::ranges::fill(sums, 0.0f);
      for (int64_t k = 0; k < size; ++k) {
        add_times(blurred + mirrored(y + k - size / 2, in.height) * line,
                  weights[static_cast<size_t>(k)], line, sums.data());
      }
      const int64_t at = n * in.elements() + y * line;
      if (image.dtype() == DType::float32) {
        std::ranges::copy(sums, reinterpret_cast<float*>(out) + at);
      } else {
        auto* to = reinterpret_cast<uint8_t*>(out) + at;
        for (const float v : sums) *to++ = static_cast<uint8_t>(std::min(v + 0.5f, 255.0f));
      }
    }
  }
}

// `count` values of a line inside the image: what Pillow's smoothing filter gives, 1 around and 5
// in the middle, over 13, and from there `factor` times as far to the value.
template <bool kBytes>
void sharpen_line(const float* from, int64_t stride, int64_t channels, float factor, int64_t count,
                  float* __restrict to) {
  const float *above = from - stride, *below = from + stride;
  const int64_t c = channels;
  for (int64_t i = 0; i < count; ++i) {
    const float sum = 5 * from[i] + above[i - c] + above[i] + above[i + c] + from[i - c] +
                      from[i + c] + below[i - c] + below[i] + below[i + c];
    float blunt = sum / 13;
    if (kBytes)
      blunt = static_cast<float>(static_cast<int32_t>(blunt + 0.5f));  // NOLINT: never below 0
    to[i] = blunt + factor * (from[i] - blunt);
  }
}

void sharpness_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in("sharpness", image);
  const auto factor = static_cast<float>(number_at(call.inputs[1]));
  const bool bytes = image.dtype() == DType::uint8;
  const Tensor floats = to_float32(image);
  const ImageSize& size = images.size;
  const int64_t stride = size.width * size.channels, inside = stride - 2 * size.channels;
  std::byte* to = call.outputs[0].allocate(image.dims());
  ChargedVector<float> line(static_cast<size_t>(stride));
  const float* from = floats.entries<float>();
  for (int64_t y = 0; y < images.count * size.height; ++y, from += stride) {
    std::copy_n(from, stride, line.begin());  // the border stays
    const bool border = y % size.height == 0 || (y + 1) % size.height == 0;
    if (!border && inside > 0) {
      (bytes ? sharpen_line<true> : sharpen_line<false>)(from + size.channels, stride,
                                                         size.channels, factor, inside,
                                                         line.data() + size.channels);
    }
    if (bytes) {
      auto* out = reinterpret_cast<uint8_t*>(to) + y * stride;
      for (const float value : line) *out++ = static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f));
    } else {
      std::ranges::copy(line, reinterpret_cast<float*>(to) + y * stride);
    }
  }
}

}  // namespace

void add_blur_ops(OpRegistry* registry) {
  const Param image = required("image", Param::Kind::tensor);
  registry->add(image_op("gaussian_blur",
                         {image, required("sigma", Param::Kind::tensor),
                          option("kernel", Param::Kind::integer, Attr::integer(0))},
                         "The image under a Gaussian of sigma pixels, the border mirrored; kernel: "
                         "its odd size.",
                         infer_blur, blur_row, 2e6));
  registry->add(image_op("sharpness", {image, required("factor", Param::Kind::tensor)},
                         "0 smoothed, 1 the image, above 1 sharper.", infer_pixels, sharpness_row,
                         1e6));
}

}  // namespace penstock
