#include "functions/kernels/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/charged.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions/kernels/image/resize.cc"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const uint8_t* from) {
  const hn::Rebind<uint8_t, D> bytes;
  const hn::Rebind<int32_t, D> integers;
  return hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, from)));
}

void widen_row(const uint8_t* src, int64_t count, float* dst) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(load_wide(d, src + i), d, dst + i);
  for (; i < count; ++i) dst[i] = src[i];
}

// dst[x] = row[lower[x]] + (row[upper[x]] - row[lower[x]]) * lerp[x]; offsets count elements. Four
// floats are read at each offset and written at each pixel, so both rows have spare room behind.
void blend_columns(const float* row, const int32_t* lower, const int32_t* upper, const float* lerp,
                   int64_t width, int64_t channels, float* dst) {
  const hn::CappedTag<float, 4> d;
  if (hn::Lanes(d) == 4 && (channels == 3 || channels == 4)) {
    for (int64_t x = 0; x < width; ++x, dst += channels) {
      const auto left = hn::LoadU(d, row + lower[x]);
      const auto right = hn::LoadU(d, row + upper[x]);
      hn::StoreU(hn::Add(left, hn::Mul(hn::Sub(right, left), hn::Set(d, lerp[x]))), d, dst);
    }
    return;
  }
  for (int64_t x = 0; x < width; ++x, dst += channels) {
    for (int64_t c = 0; c < channels; ++c) {
      const float left = row[lower[x] + c];
      dst[c] = left + (row[upper[x] + c] - left) * lerp[x];
    }
  }
}

void blend_rows(const float* top, const float* bottom, float lerp, int64_t count, float* dst) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto weight = hn::Set(d, lerp);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto upper = hn::LoadU(d, top + i);
    const auto lower = hn::LoadU(d, bottom + i);
    hn::StoreU(hn::Add(upper, hn::Mul(hn::Sub(lower, upper), weight)), d, dst + i);
  }
  for (; i < count; ++i) dst[i] = top[i] + (bottom[i] - top[i]) * lerp;
}

// dst[i] = sum over taps of weights[tap] * src[tap * stride + i].
template <class T>
HWY_INLINE void weigh_rows(const T* src, int64_t stride, const float* weights, int64_t taps,
                           int64_t count, float* dst) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const T* from = src + i;
    const auto first = hn::Set(d, weights[0]);
    auto sum0 = hn::Mul(load_wide(d, from), first);
    auto sum1 = hn::Mul(load_wide(d, from + lanes), first);
    for (int64_t tap = 1; tap < taps; ++tap) {
      from += stride;
      const auto weight = hn::Set(d, weights[tap]);
      sum0 = hn::Add(sum0, hn::Mul(load_wide(d, from), weight));
      sum1 = hn::Add(sum1, hn::Mul(load_wide(d, from + lanes), weight));
    }
    hn::StoreU(sum0, d, dst + i);
    hn::StoreU(sum1, d, dst + i + lanes);
  }
  for (; i < count; ++i) {
    float sum = static_cast<float>(src[i]) * weights[0];
    for (int64_t tap = 1; tap < taps; ++tap) {
      sum += static_cast<float>(src[tap * stride + i]) * weights[tap];
    }
    dst[i] = sum;
  }
}
void weigh_byte_rows(const uint8_t* src, int64_t stride, const float* weights, int64_t taps,
                     int64_t count, float* dst) {
  weigh_rows(src, stride, weights, taps, count, dst);
}
void weigh_float_rows(const float* src, int64_t stride, const float* weights, int64_t taps,
                      int64_t count, float* dst) {
  weigh_rows(src, stride, weights, taps, count, dst);
}

// dst[x] = sum over taps of weights[x * most + tap] * row[starts[x] + tap * channels]; room as for
// blend_columns, but of `dst` only behind the last pixel but one.
void weigh_columns(const float* row, const int32_t* starts, const int32_t* taps,
                   const float* weights, int64_t most, int64_t width, int64_t channels,
                   float* dst) {
  const hn::CappedTag<float, 4> d;
  const bool by_vector = hn::Lanes(d) == 4 && (channels == 3 || channels == 4);
  for (int64_t x = 0; x < width; ++x, dst += channels, weights += most) {
    const float* from = row + starts[x];
    if (by_vector) {
      auto sum = hn::Mul(hn::LoadU(d, from), hn::Set(d, weights[0]));
      for (int32_t tap = 1; tap < taps[x]; ++tap) {
        from += channels;
        sum = hn::Add(sum, hn::Mul(hn::LoadU(d, from), hn::Set(d, weights[tap])));
      }
      if (x + 1 < width) {
        hn::StoreU(sum, d, dst);
      } else {
        HWY_ALIGN float last[4];
        hn::StoreU(sum, d, last);
        for (int64_t c = 0; c < channels; ++c) dst[c] = last[c];
      }
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      float sum = from[c] * weights[0];
      for (int32_t tap = 1; tap < taps[x]; ++tap) sum += from[tap * channels + c] * weights[tap];
      dst[c] = sum;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock {
namespace {

HWY_EXPORT(widen_row);
HWY_EXPORT(blend_columns);
HWY_EXPORT(blend_rows);
HWY_EXPORT(weigh_byte_rows);
HWY_EXPORT(weigh_float_rows);
HWY_EXPORT(weigh_columns);

constexpr int64_t kSpare = 4;  // floats that kernels touch behind a row

// Two source places and a weight for each output place of one axis.
struct Blend {
  ChargedVector<int32_t> lower, upper;
  ChargedVector<float> lerp;
};

struct Scratch {
  Blend rows, columns;
  AxisFilter row_filter, column_filter;
  ChargedVector<float> source, blended[2];
  int64_t blended_row[2] = {-1, -1};
};

void check(ImageSize size, int64_t out_height, int64_t out_width) {
  constexpr int64_t most = (int64_t{1} << 24) - 1;  // float32 counts exactly up to here
  const auto bad = [](int64_t height, int64_t width) {
    return height <= 0 || width <= 0 || height > most || width > most;
  };
  const auto refuse = [](const char* what, int64_t height, int64_t width) {
    throw Error(Code::invalid_argument, std::string("resize: ") + what + " size must be positive" +
                                            " and below 2^24: " + std::to_string(height) + "x" +
                                            std::to_string(width));
  };
  if (bad(size.height, size.width)) refuse("image", size.height, size.width);
  if (bad(out_height, out_width)) refuse("output", out_height, out_width);
  if (size.channels <= 0 || size.channels * size.width > INT32_MAX) {
    throw Error(Code::invalid_argument,
                "resize: channels out of range: " + std::to_string(size.channels));
  }
}

// `step`: elements from one source place to the next.
void make_blend(int64_t in, int64_t out, int64_t step, ResizePlacement placement, Blend& blend) {
  blend.lower.resize(static_cast<size_t>(out));
  blend.upper.resize(static_cast<size_t>(out));
  blend.lerp.resize(static_cast<size_t>(out));
  const float scale = placement.scale(in, out);
  for (int64_t i = 0; i < out; ++i) {
    const float place = placement.place(i, scale);
    const float floor = std::floor(place);
    const auto at = static_cast<size_t>(i);
    const auto below = std::max<int64_t>(static_cast<int64_t>(floor), 0);
    const auto above = std::min<int64_t>(static_cast<int64_t>(std::ceil(place)), in - 1);
    blend.lower[at] = static_cast<int32_t>(below * step);
    blend.upper[at] = static_cast<int32_t>(above * step);
    blend.lerp[at] = place - floor;
  }
}

void load_row(const uint8_t* src, int64_t count, float* dst) {
  HWY_DYNAMIC_DISPATCH(widen_row)(src, count, dst);
}
void load_row(const float* src, int64_t count, float* dst) {
  std::memcpy(dst, src, static_cast<size_t>(count) * sizeof(float));
}

void weigh(const uint8_t* src, int64_t stride, const float* weights, int64_t taps, float* dst) {
  HWY_DYNAMIC_DISPATCH(weigh_byte_rows)(src, stride, weights, taps, stride, dst);
}
void weigh(const float* src, int64_t stride, const float* weights, int64_t taps, float* dst) {
  HWY_DYNAMIC_DISPATCH(weigh_float_rows)(src, stride, weights, taps, stride, dst);
}

// Source row `y` blended along its columns, from the two rows kept; never drops row `keep`.
template <class T>
const float* blended_row(const T* src, ImageSize size, int64_t out_width, int64_t y, int64_t keep,
                         Scratch& scratch) {
  for (size_t slot = 0; slot < 2; ++slot) {
    if (scratch.blended_row[slot] == y) return scratch.blended[slot].data();
  }
  const size_t slot = scratch.blended_row[0] == keep ? 1 : 0;
  const int64_t stride = size.width * size.channels;
  load_row(src + y * stride, stride, scratch.source.data());
  const Blend& columns = scratch.columns;
  HWY_DYNAMIC_DISPATCH(blend_columns)
  (scratch.source.data(), columns.lower.data(), columns.upper.data(), columns.lerp.data(),
   out_width, size.channels, scratch.blended[slot].data());
  scratch.blended_row[slot] = y;
  return scratch.blended[slot].data();
}

template <class T>
void blend_image(const T* src, ImageSize size, int64_t out_height, int64_t out_width,
                 ResizePlacement placement, float* dst) {
  Scratch scratch;
  make_blend(size.height, out_height, 1, placement, scratch.rows);
  make_blend(size.width, out_width, size.channels, placement, scratch.columns);
  const int64_t out_stride = out_width * size.channels;
  scratch.source.resize(static_cast<size_t>(size.width * size.channels + kSpare));
  for (size_t slot = 0; slot < 2; ++slot) {
    scratch.blended[slot].resize(static_cast<size_t>(out_stride + kSpare));
    scratch.blended_row[slot] = -1;
  }
  for (int64_t y = 0; y < out_height; ++y, dst += out_stride) {
    const auto at = static_cast<size_t>(y);
    const int64_t lower = scratch.rows.lower[at], upper = scratch.rows.upper[at];
    const float* top = blended_row(src, size, out_width, lower, upper, scratch);
    const float* bottom = blended_row(src, size, out_width, upper, lower, scratch);
    HWY_DYNAMIC_DISPATCH(blend_rows)(top, bottom, scratch.rows.lerp[at], out_stride, dst);
  }
}

void make_axis_filter(const Resizing& how, int64_t in, int64_t out, int64_t step,
                      AxisFilter* filter) {
  if (how.method == ResizeMethod::area) {
    make_area_filter({false, how.placement.align_corners}, in, out, step, filter);
  } else if (how.method == ResizeMethod::bicubic && !how.antialias) {
    make_cubic_filter(how.placement, in, out, step, filter);
  } else {
    make_kernel_filter(how.method, how.antialias, in, out, step, filter);
  }
}

template <class T>
void filter_image(const T* src, ImageSize size, int64_t out_height, int64_t out_width,
                  const Resizing& how, float* dst) {
  Scratch scratch;
  AxisFilter& rows = scratch.row_filter;
  AxisFilter& columns = scratch.column_filter;
  make_axis_filter(how, size.height, out_height, 1, &rows);
  make_axis_filter(how, size.width, out_width, size.channels, &columns);
  const int64_t stride = size.width * size.channels;
  scratch.source.resize(static_cast<size_t>(stride + kSpare));
  for (int64_t y = 0; y < out_height; ++y, dst += out_width * size.channels) {
    const auto at = static_cast<size_t>(y);
    weigh(src + rows.starts[at] * stride, stride, rows.weights.data() + y * rows.most,
          rows.taps[at], scratch.source.data());
    HWY_DYNAMIC_DISPATCH(weigh_columns)
    (scratch.source.data(), columns.starts.data(), columns.taps.data(), columns.weights.data(),
     columns.most, out_width, size.channels, dst);
  }
}

template <class T>
void resize(const T* src, ImageSize size, int64_t out_height, int64_t out_width,
            const Resizing& how, float* dst) {
  check(size, out_height, out_width);
  if (how.method == ResizeMethod::bilinear && !how.antialias) {
    blend_image(src, size, out_height, out_width, how.placement, dst);
  } else {
    filter_image(src, size, out_height, out_width, how, dst);
  }
}

}  // namespace

void resize_image(const uint8_t* src, ImageSize size, int64_t out_height, int64_t out_width,
                  const Resizing& how, float* dst) {
  resize(src, size, out_height, out_width, how, dst);
}
void resize_image(const float* src, ImageSize size, int64_t out_height, int64_t out_width,
                  const Resizing& how, float* dst) {
  resize(src, size, out_height, out_width, how, dst);
}
void resize_bilinear(const uint8_t* src, ImageSize size, int64_t out_height, int64_t out_width,
                     bool antialias, float* dst) {
  resize(src, size, out_height, out_width, {.antialias = antialias}, dst);
}
void resize_bilinear(const float* src, ImageSize size, int64_t out_height, int64_t out_width,
                     bool antialias, float* dst) {
  resize(src, size, out_height, out_width, {.antialias = antialias}, dst);
}

void resize_nearest(const void* src, ImageSize size, int64_t element_bytes, int64_t out_height,
                    int64_t out_width, ResizePlacement placement, void* dst) {
  check(size, out_height, out_width);
  const auto pixel = static_cast<size_t>(size.channels * element_bytes);
  const auto place = [placement](int64_t i, float scale, int64_t in) {
    const float at = (static_cast<float>(i) + (placement.half_pixel ? 0.5f : 0.0f)) * scale;
    return std::min(static_cast<int64_t>(placement.align_corners ? std::round(at) : std::floor(at)),
                    in - 1);
  };
  const float y_scale = placement.scale(size.height, out_height);
  const float x_scale = placement.scale(size.width, out_width);
  ChargedVector<int32_t> columns(static_cast<size_t>(out_width));
  for (int64_t x = 0; x < out_width; ++x) {
    columns[static_cast<size_t>(x)] = static_cast<int32_t>(place(x, x_scale, size.width));
  }
  auto* to = static_cast<std::byte*>(dst);
  for (int64_t y = 0; y < out_height; ++y) {
    const auto* row = static_cast<const std::byte*>(src) +
                      static_cast<size_t>(place(y, y_scale, size.height) * size.width) * pixel;
    for (const int32_t column : columns) {
      std::memcpy(to, row + static_cast<size_t>(column) * pixel, pixel);
      to += pixel;
    }
  }
}

}  // namespace penstock
#endif  // HWY_ONCE
