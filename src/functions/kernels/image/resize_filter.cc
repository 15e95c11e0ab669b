#include "functions/kernels/image/resize_filter.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace penstock {
namespace {

struct Kernel {
  float radius;
  float (*value)(float distance);  // of 0 and more
};

float lanczos(float x, float radius) {
  constexpr auto kPi = std::numbers::pi_v<float>;
  if (x > radius) return 0.0f;
  if (x <= 1e-3f) return 1.0f;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

// The cubic through its neighbours, for distances below 1 and from 1 to 2.
float keys(float x, float a) {
  if (x >= 2.0f) return 0.0f;
  if (x >= 1.0f) return ((a * x - 5.0f * a) * x + 8.0f * a) * x - 4.0f * a;
  return ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f;
}

float mitchell(float x) {
  if (x >= 2.0f) return 0.0f;
  if (x >= 1.0f) return (((-7.0f / 18.0f) * x + 2.0f) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f;
  return ((7.0f / 6.0f) * x - 2.0f) * x * x + 8.0f / 9.0f;
}

Kernel kernel_of(ResizeMethod method) {
  switch (method) {
    case ResizeMethod::bicubic: return {2.0f, [](float x) { return keys(x, -0.5f); }};
    case ResizeMethod::lanczos3: return {3.0f, [](float x) { return lanczos(x, 3.0f); }};
    case ResizeMethod::lanczos5: return {5.0f, [](float x) { return lanczos(x, 5.0f); }};
    case ResizeMethod::gaussian:  // three standard deviations
      return {1.5f, [](float x) { return x >= 1.5f ? 0.0f : std::exp(-x * x / 0.5f); }};
    case ResizeMethod::mitchellcubic: return {2.0f, mitchell};
    case ResizeMethod::nearest:
    case ResizeMethod::area:
    case ResizeMethod::bilinear: break;
  }
  return {1.0f, [](float x) { return std::max(0.0f, 1.0f - x); }};
}

void scale_to_one(float* weights, int64_t count) {
  float total = 0;
  for (int64_t i = 0; i < count; ++i) total += weights[i];
  if (std::fabs(total) < 1e-35f) return;
  const float normal = 1.0f / total;
  for (int64_t i = 0; i < count; ++i) weights[i] *= normal;
}

}  // namespace

std::optional<ResizeMethod> parse_resize_method(std::string_view name) {
  constexpr std::string_view kNames[] = {"nearest",  "bilinear", "bicubic",  "area",
                                         "lanczos3", "lanczos5", "gaussian", "mitchellcubic"};
  const auto* at = std::ranges::find(kNames, name);
  if (at == std::end(kNames)) return std::nullopt;
  return static_cast<ResizeMethod>(at - kNames);
}

void AxisFilter::resize(int64_t out, int64_t most_taps) {
  most = most_taps;
  starts.resize(static_cast<size_t>(out));
  taps.resize(static_cast<size_t>(out));
  weights.assign(static_cast<size_t>(out * most), 0.0f);
}

void make_kernel_filter(ResizeMethod method, bool antialias, int64_t in, int64_t out, int64_t step,
                        AxisFilter* filter) {
  const Kernel kernel = kernel_of(method);
  const float scale = static_cast<float>(out) / static_cast<float>(in);
  const float inverse = 1.0f / scale;
  const float widening = antialias ? std::max(inverse, 1.0f) : 1.0f;
  const float radius = kernel.radius * widening;
  filter->resize(out, std::min(2 * static_cast<int64_t>(std::ceil(radius)) + 1, in));
  for (int64_t i = 0; i < out; ++i) {
    const float centre = (static_cast<float>(i) + 0.5f) * inverse;
    const int64_t first =
        std::clamp<int64_t>(static_cast<int64_t>(std::ceil(centre - radius - 0.5f)), 0, in - 1);
    const int64_t end = std::min(static_cast<int64_t>(std::floor(centre + radius - 0.5f)), in - 1);
    const int64_t taps = std::clamp<int64_t>(end - first + 1, 1, filter->most);
    float* weights = filter->weights.data() + i * filter->most;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const float distance = static_cast<float>(first + tap) + 0.5f - centre;
      weights[tap] = kernel.value(std::fabs(distance / widening));
    }
    scale_to_one(weights, taps);
    filter->starts[static_cast<size_t>(i)] = static_cast<int32_t>(first * step);
    filter->taps[static_cast<size_t>(i)] = static_cast<int32_t>(taps);
  }
}

void make_cubic_filter(ResizePlacement placement, int64_t in, int64_t out, int64_t step,
                       AxisFilter* filter) {
  const float scale = placement.scale(in, out);
  const float a = placement.half_pixel ? -0.5f : -0.75f;
  filter->resize(out, std::min<int64_t>(4, in));
  for (int64_t i = 0; i < out; ++i) {
    const float place = placement.place(i, scale);
    const float floor = std::floor(place);
    const auto at = static_cast<int64_t>(floor);
    const int64_t first = std::clamp<int64_t>(at - 1, 0, in - 1);
    const int64_t last = std::clamp<int64_t>(at + 2, 0, in - 1);
    float* weights = filter->weights.data() + i * filter->most;
    for (int64_t tap = at - 1; tap <= at + 2; ++tap) {
      const bool inside = tap >= 0 && tap < in;
      if (!inside && placement.half_pixel) continue;
      const float distance = std::fabs(static_cast<float>(tap - at) - (place - floor));
      weights[std::clamp(tap, first, last) - first] += keys(distance, a);
    }
    if (placement.half_pixel) scale_to_one(weights, last - first + 1);
    filter->starts[static_cast<size_t>(i)] = static_cast<int32_t>(first * step);
    filter->taps[static_cast<size_t>(i)] = static_cast<int32_t>(last - first + 1);
  }
}

void make_area_filter(ResizePlacement placement, int64_t in, int64_t out, int64_t step,
                      AxisFilter* filter) {
  const float scale = placement.scale(in, out);
  filter->resize(out, std::min(static_cast<int64_t>(std::ceil(scale)) + 2, in));
  for (int64_t i = 0; i < out; ++i) {
    const float from = static_cast<float>(i) * scale, to = static_cast<float>(i + 1) * scale;
    const int64_t first = std::min(static_cast<int64_t>(std::floor(from)), in - 1);
    const int64_t end = std::max(first + 1, std::min(static_cast<int64_t>(std::ceil(to)), in));
    float* weights = filter->weights.data() + i * filter->most;
    const int64_t taps = std::min(end - first, filter->most);
    for (int64_t tap = 0; tap < taps; ++tap) {
      const auto at = static_cast<float>(first + tap);
      weights[tap] = std::max(0.0f, std::min(at + 1, to) - std::max(at, from));
    }
    if (!(scale > 0)) weights[0] = 1;  // corners aligned, of one pixel: an area without size
    scale_to_one(weights, taps);
    filter->starts[static_cast<size_t>(i)] = static_cast<int32_t>(first * step);
    filter->taps[static_cast<size_t>(i)] = static_cast<int32_t>(taps);
  }
}

}  // namespace penstock
