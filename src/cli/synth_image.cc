#include "cli/synth_image.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace penstock {
namespace {

// Cheap, and random enough for pixels; RandomStream would take most of the time.
class FastRandom {
 public:
  explicit FastRandom(uint64_t seed) : state_(seed | 1) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  // Returns a value in [-1, 1).
  float value() { return static_cast<float>(static_cast<int32_t>(next() >> 32)) * 0x1p-31f; }

 private:
  uint64_t state_;
};

struct Plane {
  Plane(int64_t rows, int64_t columns)
      : height(rows), width(columns), values(static_cast<size_t>(rows * columns)) {}
  float* row(int64_t y) { return values.data() + y * width; }
  int64_t height, width;
  std::vector<float> values;
};

float smooth(float t) { return t * t * (3 - 2 * t); }

// Adds smooth noise: random values on a grid of `cell` pixels, interpolated. Widens rows of the
// grid first, so that the inner loop is one multiply-add per pixel.
void add_noise(Plane& plane, float cell, float amplitude, FastRandom& random) {
  const auto columns = static_cast<int64_t>(static_cast<float>(plane.width) / cell) + 2;
  std::vector<float> knots(static_cast<size_t>(columns));
  const auto width = static_cast<size_t>(plane.width);
  std::vector<float> above(width), below(width);
  auto widen = [&](std::vector<float>& line) {
    for (float& knot : knots) knot = random.value() * amplitude;
    for (size_t x = 0; x < width; ++x) {
      const float at = static_cast<float>(x) / cell;
      const auto left = static_cast<size_t>(at);
      const float t = smooth(at - static_cast<float>(left));
      line[x] = knots[left] + (knots[left + 1] - knots[left]) * t;
    }
  };
  widen(above);
  widen(below);
  int64_t band = 0;
  for (int64_t y = 0; y < plane.height; ++y) {
    const float at = static_cast<float>(y) / cell;
    for (; band < static_cast<int64_t>(at); ++band) {
      above.swap(below);
      widen(below);
    }
    const float t = smooth(at - static_cast<float>(band));
    float* out = plane.row(y);
    for (size_t x = 0; x < width; ++x) out[x] += above[x] + (below[x] - above[x]) * t;
  }
}

// Adds a tilted ellipse of another colour and shade, with an edge about a pixel wide.
void add_object(Plane* planes, FastRandom& random) {
  const auto height = static_cast<float>(planes[0].height);
  const auto width = static_cast<float>(planes[0].width);
  const float cx = width * (0.5f + 0.6f * random.value());
  const float cy = height * (0.5f + 0.6f * random.value());
  const float side = std::min(height, width);
  const float a = side * (0.17f + 0.14f * random.value());
  const float b = side * (0.17f + 0.14f * random.value());
  const float angle = 3.2f * random.value();
  const float c = std::cos(angle), s = std::sin(angle);
  const float shade[3] = {60 * random.value(), 30 * random.value(), 30 * random.value()};
  const float slope = std::min(a, b) / 2;
  const float reach = std::max(a, b) + 2;
  const auto y0 = static_cast<int64_t>(std::clamp(cy - reach, 0.f, height));
  const auto y1 = static_cast<int64_t>(std::clamp(cy + reach, 0.f, height));
  const auto x0 = static_cast<int64_t>(std::clamp(cx - reach, 0.f, width));
  const auto x1 = static_cast<int64_t>(std::clamp(cx + reach, 0.f, width));
  for (int64_t y = y0; y < y1; ++y) {
    const float dy = static_cast<float>(y) - cy;
    float* luma = planes[0].row(y);
    float* blue = planes[1].row(y);
    float* red = planes[2].row(y);
    for (int64_t x = x0; x < x1; ++x) {
      const float dx = static_cast<float>(x) - cx;
      const float u = (dx * c + dy * s) / a;
      const float v = (dy * c - dx * s) / b;
      const float inside = std::clamp((1 - u * u - v * v) * slope, 0.f, 1.f);
      luma[x] += shade[0] * inside;
      blue[x] += shade[1] * inside;
      red[x] += shade[2] * inside;
    }
  }
}

uint8_t to_byte(float value) { return static_cast<uint8_t>(std::clamp(value + 0.5f, 0.f, 255.f)); }

}  // namespace

ImageSize photo_size(RandomStream& random) {
  const uint64_t kind = random.next_below(100);
  if (kind < 55) return {375, 500, 3};
  if (kind < 70) return {500, 375, 3};
  if (kind < 80) return {333, 500, 3};
  if (kind < 85) return {500, 333, 3};
  const auto side = [&] { return static_cast<int64_t>(160 + random.next_below(481)); };
  const int64_t height = side();
  return {height, side(), 3};
}

std::vector<uint8_t> synth_photo(RandomStream& random_stream, ImageSize size) {
  FastRandom random(random_stream.next_uint64());
  const float busy = 0.8f + 2.2f * random_stream.next_float() * random_stream.next_float();
  Plane planes[3] = {
      {size.height, size.width}, {size.height, size.width}, {size.height, size.width}};
  const auto side = static_cast<float>(std::max(size.height, size.width));
  const float base = 120 + 40 * random.value();
  std::ranges::fill(planes[0].values, base);
  float amplitude = 50;
  for (float cell = side / 2; cell > 8; cell *= 0.5f, amplitude *= 0.68f) {
    add_noise(planes[0], cell, amplitude, random);
  }
  for (const float cell : {5.3f, 3.1f, 1.7f}) add_noise(planes[0], cell, 22 * busy, random);
  for (int chroma = 1; chroma < 3; ++chroma) {
    float weight = 24;
    for (float cell = side / 2; cell > 6; cell *= 0.4f, weight *= 0.5f) {
      add_noise(planes[chroma], cell, weight, random);
    }
  }
  for (uint32_t n = 4 + random_stream.next_uint32() % 12; n > 0; --n) add_object(planes, random);
  Plane texture(size.height, size.width);  // mask of busy regions
  add_noise(texture, side / 4, 1, random);

  std::vector<uint8_t> out(static_cast<size_t>(size.elements()));
  std::vector<float> fine(static_cast<size_t>(size.width));
  for (int64_t y = 0; y < size.height; ++y) {
    const float* mask = texture.row(y);
    const float* luma = planes[0].row(y);
    const float* blue = planes[1].row(y);
    const float* red = planes[2].row(y);
    for (float& value : fine) value = random.value();
    uint8_t* pixel = out.data() + y * size.width * 3;
    for (int64_t x = 0; x < size.width; ++x, pixel += 3) {
      const float strength = busy * (8 + 50 * std::max(mask[x], 0.f));
      const float light = luma[x] + fine[static_cast<size_t>(x)] * strength;
      pixel[0] = to_byte(light + 1.402f * red[x]);
      pixel[1] = to_byte(light - 0.344f * blue[x] - 0.714f * red[x]);
      pixel[2] = to_byte(light + 1.772f * blue[x]);
    }
  }
  return out;
}

}  // namespace penstock
