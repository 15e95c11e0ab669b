// gaussian_blur and sharpness.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

std::vector<float> gaussian(int64_t size, double sigma) {
  std::vector<float> weights;
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

// One pass along rows (of `side` places, `step` values apart).
void blur_axis(const float* from, int64_t count, int64_t side, int64_t step,
               const std::vector<float>& weights, float* to) {
  const auto size = static_cast<int64_t>(weights.size());
  for (int64_t n = 0; n < count; ++n, from += side * step, to += side * step) {
    std::fill_n(to, side * step, 0.0f);
    for (int64_t i = 0; i < side; ++i) {
      for (int64_t k = 0; k < size; ++k) {
        const float* source = from + mirrored(i + k - size / 2, side) * step;
        const float weight = weights[static_cast<size_t>(k)];
        for (int64_t v = 0; v < step; ++v) to[i * step + v] += source[v] * weight;
      }
    }
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
  if (kernel < 0 || (kernel > 0 && kernel % 2 == 0) || kernel > 4095) {
    throw TypeError{-1, "kernel", "must be odd, or 0 (from sigma), is " + std::to_string(kernel)};
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
  const std::vector<float> weights = gaussian(size, sigma);
  const Tensor floats = to_float32(image);
  std::vector<float> once(static_cast<size_t>(image.entries_count())), twice(once.size());
  const ImageSize& in = images.size;
  if (in.elements() > 0) {
    blur_axis(floats.entries<float>(), images.count * in.height, in.width, in.channels, weights,
              once.data());
    blur_axis(once.data(), images.count, in.height, in.width * in.channels, weights, twice.data());
  }
  if (image.dtype() == DType::float32) {
    std::ranges::copy(twice, call.outputs[0].allocate_as<float>(image.dims()));
    return;
  }
  auto* to = call.outputs[0].allocate_as<uint8_t>(image.dims());
  for (const float value : twice) *to++ = static_cast<uint8_t>(std::min(value + 0.5f, 255.0f));
}

// What Pillow's smoothing filter gives inside, 1 around and 5 in the middle, over 13; the border
// stays.
float smoothed(const float* at, int64_t stride, int64_t channels) {
  float sum = 5 * at[0];
  for (int64_t y = -1; y <= 1; ++y) {
    for (int64_t x = -1; x <= 1; ++x) {
      if (y != 0 || x != 0) sum += at[y * stride + x * channels];
    }
  }
  return sum / 13;
}

void sharpness_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in("sharpness", image);
  const auto factor = static_cast<float>(number_at(call.inputs[1]));
  const bool bytes = image.dtype() == DType::uint8;
  const Tensor floats = to_float32(image);
  const ImageSize& size = images.size;
  const int64_t stride = size.width * size.channels;
  std::byte* to = call.outputs[0].allocate(image.dims());
  for (int64_t i = 0; i < image.entries_count(); ++i) {
    const int64_t y = i / stride % size.height, x = i / size.channels % size.width;
    const float* at = floats.entries<float>() + i;
    float value = *at;
    if (y > 0 && x > 0 && y + 1 < size.height && x + 1 < size.width) {
      float blunt = smoothed(at, stride, size.channels);
      if (bytes) blunt = std::floor(blunt + 0.5f);
      value = blunt + factor * (value - blunt);
    }
    if (bytes) {
      reinterpret_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f));
    } else {
      reinterpret_cast<float*>(to)[i] = value;
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
