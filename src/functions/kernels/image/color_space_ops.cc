// rgb <-> hsv, yuv, yiq and grey, with TensorFlow's matrices.
#include <string>

#include "functions/kernels/image/color_pixels.h"

namespace penstock {
namespace {

Spec infer_real(const InferContext& context) {
  const LeafSpec& image = infer_colors(context, 3);
  if (!is_float(image.dtype)) {
    context.fail(0, "is " + image.text() + ", expected floats in [0, 1]; convert it first: " +
                        "convert_image_dtype(image, float32)");
  }
  return Spec::of(image);
}

void to_hsv_row(const RowCall& call) {
  change_image("rgb_to_hsv", call, 3, [](float* pixels, int64_t count) {
    for (int64_t i = 0; i < count; ++i, pixels += 3) {
      const Hsv hsv = rgb_to_hsv(pixels);
      pixels[0] = hsv.hue;
      pixels[1] = hsv.saturation;
      pixels[2] = hsv.value;
    }
  });
}

void from_hsv_row(const RowCall& call) {
  change_image("hsv_to_rgb", call, 3, [](float* pixels, int64_t count) {
    for (int64_t i = 0; i < count; ++i, pixels += 3) {
      hsv_to_rgb({pixels[0], pixels[1], pixels[2]}, pixels);
    }
  });
}

using Matrix = float[3][3];  // out[j] = sum of in[i] * matrix[i][j]

constexpr Matrix kToYuv = {{0.299f, -0.14714119f, 0.61497538f},
                           {0.587f, -0.28886916f, -0.51496512f},
                           {0.114f, 0.43601035f, -0.10001026f}};
constexpr Matrix kFromYuv = {
    {1, 1, 1}, {0, -0.394642334f, 2.03206185f}, {1.13988303f, -0.58062185f, 0}};
constexpr Matrix kToYiq = {{0.299f, 0.59590059f, 0.2115f},
                           {0.587f, -0.27455667f, -0.52273617f},
                           {0.114f, -0.32134392f, 0.31119955f}};
constexpr Matrix kFromYiq = {
    {1, 1, 1}, {0.95598634f, -0.27201283f, -1.10674021f}, {0.6208248f, -0.64720424f, 1.70423049f}};

template <const Matrix& kMatrix>
void matrix_row(const RowCall& call) {
  change_image("colour matrix", call, 3, [](float* pixels, int64_t count) {
    for (int64_t i = 0; i < count; ++i, pixels += 3) {
      const float in[3] = {pixels[0], pixels[1], pixels[2]};
      for (int j = 0; j < 3; ++j) {
        pixels[j] = in[0] * kMatrix[0][j] + in[1] * kMatrix[1][j] + in[2] * kMatrix[2][j];
      }
    }
  });
}

Shape with_channels(const Shape& shape, int64_t channels) {
  if (!shape.has_rank()) return shape;
  std::vector<int64_t> sizes = shape.sizes();
  sizes.back() = channels;
  return Shape(std::move(sizes));
}

Spec infer_to_grey(const InferContext& context) {
  const LeafSpec& image = infer_colors(context, 3);
  return Spec::tensor(image.dtype, with_channels(image.shape, 1));
}

Dims with_channels(const Dims& dims, int64_t channels) {
  Dims out = dims;
  out[dims.rank() - 1] = channels;
  return out;
}

void check_channels(const char* op, const Tensor& image, int64_t channels) {
  const Dims& dims = image.dims();
  if (dims.rank() > 0 && dims[dims.rank() - 1] == channels) return;
  throw Error(Code::invalid_argument, std::string(op) + ": expected " + std::to_string(channels) +
                                          " channels, got shape " + dims.text());
}

void to_grey_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  check_channels("rgb_to_grayscale", image, 3);
  const Tensor whole = Tensor::make(DType::float32, image.dims());
  auto* values = const_cast<float*>(whole.entries<float>());
  const int64_t count = image.entries_count() / 3;
  convert_image_entries(image.dtype(), image.data(), 3 * count, DType::float32,
                        reinterpret_cast<std::byte*>(values));
  for (int64_t i = 0; i < count; ++i) {
    const float* rgb = values + 3 * i;
    values[i] = rgb[0] * 0.2989f + rgb[1] * 0.5870f + rgb[2] * 0.1140f;
  }
  convert_image_entries(DType::float32, reinterpret_cast<const std::byte*>(values), count,
                        image.dtype(), call.outputs[0].allocate(with_channels(image.dims(), 1)));
}

Spec infer_from_grey(const InferContext& context) {
  const LeafSpec& image = infer_colors(context, 1);
  return Spec::tensor(image.dtype, with_channels(image.shape, 3));
}

template <typename T>
void repeat_thrice(const std::byte* grey, int64_t count, std::byte* to) {
  const T* from = reinterpret_cast<const T*>(grey);
  T* rgb = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i, rgb += 3) rgb[0] = rgb[1] = rgb[2] = from[i];
}

void from_grey_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  check_channels("grayscale_to_rgb", image, 1);
  std::byte* to = call.outputs[0].allocate(with_channels(image.dims(), 3));
  const int64_t count = image.entries_count();
  switch (dtype_size(image.dtype())) {
    case 1: return repeat_thrice<uint8_t>(image.data(), count, to);
    case 2: return repeat_thrice<uint16_t>(image.data(), count, to);
    case 4: return repeat_thrice<uint32_t>(image.data(), count, to);
    default: return repeat_thrice<uint64_t>(image.data(), count, to);
  }
}

}  // namespace

void add_color_space_ops(OpRegistry* registry) {
  const auto add = [registry](const char* name, const char* doc, Spec (*infer)(const InferContext&),
                              RowKernel row, double cost_ns) {
    registry->add(
        image_op(name, {required("image", Param::Kind::tensor)}, doc, infer, row, cost_ns));
  };
  add("rgb_to_hsv", "Hue, saturation and value, each in [0, 1], of RGB floats.", infer_real,
      to_hsv_row, 4e5);
  add("hsv_to_rgb", "RGB of hue, saturation and value in [0, 1].", infer_real, from_hsv_row, 3e5);
  add("rgb_to_yuv", "Luma and the differences of blue and red of RGB floats.", infer_real,
      matrix_row<kToYuv>, 1e5);
  add("yuv_to_rgb", "RGB of luma and colour differences.", infer_real, matrix_row<kFromYuv>, 1e5);
  add("rgb_to_yiq", "Luma, in-phase and quadrature (NTSC) of RGB floats.", infer_real,
      matrix_row<kToYiq>, 1e5);
  add("yiq_to_rgb", "RGB of luma, in-phase and quadrature.", infer_real, matrix_row<kFromYiq>, 1e5);
  add("rgb_to_grayscale", "0.2989 red + 0.587 green + 0.114 blue, one channel, in the same dtype.",
      infer_to_grey, to_grey_row, 2e5);
  add("grayscale_to_rgb", "The one channel three times.", infer_from_grey, from_grey_row, 5e4);
}

}  // namespace penstock
