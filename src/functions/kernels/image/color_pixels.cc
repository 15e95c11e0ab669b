#include "functions/kernels/image/color_pixels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace penstock {

Hsv rgb_to_hsv(const float* rgb) {
  const float r = rgb[0], g = rgb[1], b = rgb[2];
  const float most = std::max({r, g, b}), range = most - std::min({r, g, b});
  Hsv out{0, most > 0 ? range / most : 0, most};
  if (range <= 0) return out;
  const float norm = 1.0f / (6.0f * range);
  out.hue = r == most   ? norm * (g - b)
            : g == most ? norm * (b - r) + 2.0f / 6.0f
                        : norm * (r - g) + 4.0f / 6.0f;
  if (out.hue < 0) out.hue += 1;
  return out;
}

void hsv_to_rgb(Hsv hsv, float* rgb) {
  const float h = hsv.hue * 6, rest = 1 - hsv.saturation;
  const float parts[3] = {std::fabs(h - 3) - 1, 2 - std::fabs(h - 2), 2 - std::fabs(h - 4)};
  for (int c = 0; c < 3; ++c) {
    rgb[c] = (rest + hsv.saturation * std::clamp(parts[c], 0.0f, 1.0f)) * hsv.value;
  }
}

void change_pixels(DType dtype, const std::byte* from, int64_t count, int64_t channels,
                   PixelStep step, std::byte* to) {
  constexpr int64_t kPiece = 4096;
  float piece[kPiece];
  const int64_t pixels = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, channels));
  if (channels > kPiece) {
    throw Error(Code::invalid_argument, "too many channels: " + std::to_string(channels));
  }
  const int64_t entry = dtype_size(dtype);
  for (int64_t done = 0; done < count; done += pixels) {
    const int64_t now = std::min(pixels, count - done);
    const int64_t at = done * channels * entry;
    convert_image_entries(dtype, from + at, now * channels, DType::float32,
                          reinterpret_cast<std::byte*>(piece));
    step(piece, now);
    convert_image_entries(DType::float32, reinterpret_cast<const std::byte*>(piece), now * channels,
                          dtype, to + at);
  }
}

void change_image(const char* op, const RowCall& call, int64_t channels, PixelStep step) {
  const Tensor& image = call.inputs[0];
  const Dims& dims = image.dims();
  const int64_t last = dims.rank() > 0 ? dims[dims.rank() - 1] : 0;
  if (dims.rank() == 0 || (channels != 0 && last != channels)) {
    throw Error(Code::invalid_argument, std::string(op) + ": expected " + std::to_string(channels) +
                                            " channels, got shape " + dims.text());
  }
  std::byte* to = call.outputs[0].allocate(dims);
  if (last == 0) return;
  change_pixels(image.dtype(), image.data(), image.entries_count() / last, last, step, to);
}

ByteTable byte_table(PixelStep step) {
  ByteTable all, table;
  std::iota(all.begin(), all.end(), uint8_t{0});
  change_pixels(DType::uint8, reinterpret_cast<const std::byte*>(all.data()), 256, 1, step,
                reinterpret_cast<std::byte*>(table.data()));
  return table;
}

void look_up(const uint8_t* from, int64_t count, const ByteTable& table, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = table[from[i]];
}

void change_values(const char* op, const RowCall& call, PixelStep step) {
  const Tensor& image = call.inputs[0];
  if (image.dtype() == DType::uint8 && image.dims().rank() > 0 && image.entries_count() > 256) {
    look_up(image.entries<uint8_t>(), image.entries_count(), byte_table(step),
            call.outputs[0].allocate_as<uint8_t>(image.dims()));
    return;
  }
  change_image(op, call, 0, [&](float* pixels, int64_t count) {
    step(pixels, count * image.dims()[image.dims().rank() - 1]);
  });
}

const LeafSpec& infer_colors(const InferContext& context, int64_t channels) {
  const LeafSpec& image = context.tensor(0);
  if (image.dtype == DType::bytes) infer_image(context, 0);  // says how to decode
  if (!is_number(image.dtype)) context.fail(0, "is " + image.text() + ", expected numbers");
  const Shape& shape = image.shape;
  if (!shape.has_rank()) return image;
  const int64_t last = shape.rank() > 0 ? shape[shape.rank() - 1] : 0;
  if (shape.rank() == 0 || (channels != 0 && last != channels && last != Shape::kUnknown)) {
    context.fail(0, "is " + image.text() + ", expected " + std::to_string(channels) +
                        " channels on the last axis");
  }
  return image;
}

}  // namespace penstock
