// Which source places, and with which weights, make each place of a resized axis: the rules of
// TensorFlow's resize kernels, all but bilinear and nearest without antialias.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/charged.h"

namespace penstock {

enum class ResizeMethod : uint8_t {
  nearest,
  bilinear,
  bicubic,
  area,
  lanczos3,
  lanczos5,
  gaussian,
  mitchellcubic,
};
std::optional<ResizeMethod> parse_resize_method(std::string_view name);

// Where output place i lies in the source: (i + 0.5) * scale - 0.5 with half_pixel, else i * scale;
// scale is in / out, or (in - 1) / (out - 1) with align_corners. Not both.
struct ResizePlacement {
  bool half_pixel = true;
  bool align_corners = false;

  float scale(int64_t in, int64_t out) const {
    if (align_corners && out > 1) return static_cast<float>(in - 1) / static_cast<float>(out - 1);
    return static_cast<float>(in) / static_cast<float>(out);
  }
  float place(int64_t i, float scale) const {
    const auto at = static_cast<float>(i);
    return half_pixel ? (at + 0.5f) * scale - 0.5f : at * scale;
  }
};

// For each output place a run of `taps` source places from `starts` (counted in values, `step` from
// one place to the next), with weights `most` apart.
struct AxisFilter {
  ChargedVector<int32_t> starts, taps;
  ChargedVector<float> weights;
  int64_t most = 0;

  void resize(int64_t out, int64_t most_taps);
};

// Half-pixel centres. With `antialias` the kernel is widened when the axis shrinks. Not for nearest
// and area.
void make_kernel_filter(ResizeMethod method, bool antialias, int64_t in, int64_t out, int64_t step,
                        AxisFilter* filter);
// Four places; a is -0.5 with half-pixel centres (places outside are left out), else -0.75 (the
// border is repeated).
void make_cubic_filter(ResizePlacement placement, int64_t in, int64_t out, int64_t step,
                       AxisFilter* filter);
// The mean over the source places that the output place covers.
void make_area_filter(ResizePlacement placement, int64_t in, int64_t out, int64_t step,
                      AxisFilter* filter);

}  // namespace penstock
