#include "functions/kernels/image/pixels.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions/kernels/image/pixels.cc"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#ifndef PENSTOCK_PIXEL_ROW
#define PENSTOCK_PIXEL_ROW
namespace penstock {

// One row to normalise.
struct PixelRow {
  const void* src;
  int64_t width;
  int64_t channels;
  const float* subtract;
  const float* divide;
  bool flip;
  bool planar;           // one plane for each channel, else packed pixels
  int64_t channel_step;  // values from one plane to the next
  float* dst;
  bool past_cache;  // written around the caches; all of the row's vectors are aligned
};

}  // namespace penstock
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE void load3(D d, const float* from, V& a, V& b, V& c) {
  hn::LoadInterleaved3(d, from, a, b, c);
}
template <class D, class V>
HWY_INLINE void load3(D d, const uint8_t* from, V& a, V& b, V& c) {
  const hn::Rebind<uint8_t, D> bytes;
  const hn::Rebind<int32_t, D> integers;
  hn::Vec<decltype(bytes)> a8, b8, c8;
  hn::LoadInterleaved3(bytes, from, a8, b8, c8);
  a = hn::ConvertTo(d, hn::PromoteTo(integers, a8));
  b = hn::ConvertTo(d, hn::PromoteTo(integers, b8));
  c = hn::ConvertTo(d, hn::PromoteTo(integers, c8));
}

template <class D>
HWY_INLINE hn::Vec<D> load1(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load1(D d, const uint8_t* from) {
  const hn::Rebind<uint8_t, D> bytes;
  const hn::Rebind<int32_t, D> integers;
  return hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, from)));
}

template <bool kDivide, class V>
HWY_INLINE V apply(V value, V subtract, V divide) {
  const V centred = hn::Sub(value, subtract);
  if constexpr (kDivide) return hn::Div(centred, divide);
  return centred;
}

// Handles pixels [from, width) of a row one by one.
template <bool kDivide, class T>
HWY_INLINE void finish_row(const PixelRow& row, int64_t from) {
  const T* src = static_cast<const T*>(row.src);
  for (int64_t x = from; x < row.width; ++x) {
    const int64_t to = row.flip ? row.width - 1 - x : x;
    for (int64_t c = 0; c < row.channels; ++c) {
      float value = static_cast<float>(src[x * row.channels + c]);
      if (row.subtract != nullptr) value -= row.subtract[c];
      if (kDivide) value /= row.divide[c];
      row.dst[row.planar ? c * row.channel_step + to : to * row.channels + c] = value;
    }
  }
}

template <bool kDivide, class T>
HWY_INLINE int64_t three_channels(const PixelRow& row) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* src = static_cast<const T*>(row.src);
  const auto constant = [&](const float* table, int c, float otherwise) HWY_ATTR {
    return hn::Set(d, table != nullptr ? table[c] : otherwise);
  };
  const V s0 = constant(row.subtract, 0, 0), s1 = constant(row.subtract, 1, 0),
          s2 = constant(row.subtract, 2, 0);
  const V d0 = constant(row.divide, 0, 1), d1 = constant(row.divide, 1, 1),
          d2 = constant(row.divide, 2, 1);
  int64_t x = 0;
  for (; x + lanes <= row.width; x += lanes) {
    V a, b, c;
    load3(d, src + 3 * x, a, b, c);
    a = apply<kDivide>(a, s0, d0);
    b = apply<kDivide>(b, s1, d1);
    c = apply<kDivide>(c, s2, d2);
    int64_t to = x;
    if (row.flip) {
      a = hn::Reverse(d, a);
      b = hn::Reverse(d, b);
      c = hn::Reverse(d, c);
      to = row.width - lanes - x;
    }
    if (row.past_cache && row.planar) {
      hn::Stream(a, d, row.dst + to);
      hn::Stream(b, d, row.dst + row.channel_step + to);
      hn::Stream(c, d, row.dst + 2 * row.channel_step + to);
    } else if (row.past_cache) {
      HWY_ALIGN float pixels[3 * hn::MaxLanes(d)];
      hn::StoreInterleaved3(a, b, c, d, pixels);
      for (int64_t i = 0; i < 3; ++i)
        hn::Stream(hn::Load(d, pixels + i * lanes), d, row.dst + 3 * to + i * lanes);
    } else if (row.planar) {
      hn::StoreU(a, d, row.dst + to);
      hn::StoreU(b, d, row.dst + row.channel_step + to);
      hn::StoreU(c, d, row.dst + 2 * row.channel_step + to);
    } else {
      hn::StoreInterleaved3(a, b, c, d, row.dst + 3 * to);
    }
  }
  return x;
}

template <bool kDivide, class T>
HWY_INLINE int64_t one_channel(const PixelRow& row) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* src = static_cast<const T*>(row.src);
  const auto subtract = hn::Set(d, row.subtract != nullptr ? row.subtract[0] : 0.0f);
  const auto divide = hn::Set(d, row.divide != nullptr ? row.divide[0] : 1.0f);
  int64_t x = 0;
  for (; x + lanes <= row.width; x += lanes) {
    auto value = apply<kDivide>(load1(d, src + x), subtract, divide);
    if (row.flip) value = hn::Reverse(d, value);
    hn::StoreU(value, d, row.dst + (row.flip ? row.width - lanes - x : x));
  }
  return x;
}

template <bool kDivide, class T>
HWY_INLINE void normalize_row(const PixelRow& row) {
  int64_t done = 0;
  if (row.channels == 3) done = three_channels<kDivide, T>(row);
  if (row.channels == 1) done = one_channel<kDivide, T>(row);
  finish_row<kDivide, T>(row, done);
}

void normalize_floats(const PixelRow& row) {
  row.divide != nullptr ? normalize_row<true, float>(row) : normalize_row<false, float>(row);
}
void normalize_bytes(const PixelRow& row) {
  row.divide != nullptr ? normalize_row<true, uint8_t>(row) : normalize_row<false, uint8_t>(row);
}

template <class T>
HWY_INLINE void split_three(const T* src, int64_t pixels, T* dst) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    hn::Vec<decltype(d)> a, b, c;
    hn::LoadInterleaved3(d, src + 3 * i, a, b, c);
    hn::StoreU(a, d, dst + i);
    hn::StoreU(b, d, dst + pixels + i);
    hn::StoreU(c, d, dst + 2 * pixels + i);
  }
  for (; i < pixels; ++i) {
    for (int64_t c = 0; c < 3; ++c) dst[c * pixels + i] = src[3 * i + c];
  }
}
void split_three_bytes(const uint8_t* src, int64_t pixels, uint8_t* dst) {
  split_three(src, pixels, dst);
}
void split_three_floats(const float* src, int64_t pixels, float* dst) {
  split_three(src, pixels, dst);
}

// Mirrors a row of 3-byte pixels, five at a time; gives how many it did from the row's start.
int64_t flip_three_bytes(const uint8_t* src, int64_t width, uint8_t* dst) {
  const hn::CappedTag<uint8_t, 16> d;
  if (hn::Lanes(d) < 16) return 0;
  HWY_ALIGN static constexpr uint8_t order[16] = {15, 12, 13, 14, 9, 10, 11, 6,
                                                  7,  8,  3,  4,  5, 0,  1,  2};
  const auto shuffle = hn::LoadU(d, order);
  int64_t x = 0;
  // Each store also writes the byte before its five pixels, which the next one puts right.
  for (; x + 6 <= width; x += 5) {
    const auto pixels = hn::LoadU(d, src + 3 * x);
    hn::StoreU(hn::TableLookupBytes(pixels, shuffle), d, dst + 3 * (width - 5 - x) - 1);
  }
  return x;
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock {
namespace {

HWY_EXPORT(normalize_floats);
HWY_EXPORT(normalize_bytes);
HWY_EXPORT(split_three_bytes);
HWY_EXPORT(split_three_floats);
HWY_EXPORT(flip_three_bytes);

void run_row(const PixelRow& row, const float*) { HWY_DYNAMIC_DISPATCH(normalize_floats)(row); }
void run_row(const PixelRow& row, const uint8_t*) { HWY_DYNAMIC_DISPATCH(normalize_bytes)(row); }

template <class T>
void normalize_pixels(const T* src, int64_t pixels, int channels, const float* subtract,
                      const float* divide, float* dst) {
  run_row(PixelRow{src, pixels, channels, subtract, divide, false, false, 0, dst, false}, src);
}

// A picture this large is gone from the caches before anyone reads it: without reading its lines
// first, it is written in less than half the time. Vectors of any width must be aligned.
bool goes_past_cache(ImageSize size, const float* dst) {
  constexpr int64_t kBytes = 256 << 10;
  constexpr uintptr_t kAlignment = 64;
  const int64_t row_bytes = size.width * static_cast<int64_t>(sizeof(float));
  return size.channels == 3 && size.elements() * 4 >= kBytes &&
         reinterpret_cast<uintptr_t>(dst) % kAlignment == 0 && row_bytes % kAlignment == 0;
}

template <class T>
void normalize_rows(const T* src, ImageSize size, const Epilogue& epilogue, float* dst) {
  const int64_t plane = size.height * size.width;
  PixelRow row{src,
               size.width,
               size.channels,
               epilogue.subtract,
               epilogue.divide,
               epilogue.flip,
               epilogue.to_chw,
               plane,
               dst,
               goes_past_cache(size, dst)};
  if (!epilogue.flip) {
    row.width = plane;
    run_row(row, src);
    if (row.past_cache) hwy::FlushStream();
    return;
  }
  const int64_t stride = size.width * size.channels;
  for (int64_t y = 0; y < size.height; ++y) {
    row.src = src + y * stride;
    row.dst = dst + y * (epilogue.to_chw ? size.width : stride);
    run_row(row, src);
  }
  if (row.past_cache) hwy::FlushStream();
}

template <class T>
void transpose(const T* src, ImageSize size, T* dst) {
  const int64_t pixels = size.height * size.width;
  for (int64_t c = 0; c < size.channels; ++c) {
    for (int64_t i = 0; i < pixels; ++i) *dst++ = src[i * size.channels + c];
  }
}

// kBytes: the pixel's size when known at compile time, 0 for any.
template <size_t kBytes>
void flip_pixels(const std::byte* src, int64_t width, size_t bytes, std::byte* dst) {
  const size_t pixel = kBytes != 0 ? kBytes : bytes;
  std::byte* to = dst + static_cast<size_t>(width) * pixel;
  for (int64_t x = 0; x < width; ++x, src += pixel) {
    to -= pixel;
    std::memcpy(to, src, pixel);
  }
}

void flip_row(const std::byte* src, int64_t width, size_t pixel, std::byte* dst) {
  switch (pixel) {
    case 1: return flip_pixels<1>(src, width, pixel, dst);
    case 3: {
      const int64_t done = HWY_DYNAMIC_DISPATCH(flip_three_bytes)(
          reinterpret_cast<const uint8_t*>(src), width, reinterpret_cast<uint8_t*>(dst));
      return flip_pixels<3>(src + 3 * done, width - done, pixel, dst);
    }
    case 4: return flip_pixels<4>(src, width, pixel, dst);
    case 6: return flip_pixels<6>(src, width, pixel, dst);
    case 12: return flip_pixels<12>(src, width, pixel, dst);
    default: return flip_pixels<0>(src, width, pixel, dst);
  }
}

template <size_t kBytes>
void swap_pixels(std::byte* row, int64_t width, size_t bytes) {
  const size_t pixel = kBytes != 0 ? kBytes : bytes;
  std::byte* right = row + static_cast<size_t>(width) * pixel;
  for (int64_t x = 0; x < width / 2; ++x, row += pixel) {
    right -= pixel;
    if constexpr (kBytes != 0) {
      std::byte left[kBytes];
      std::memcpy(left, row, kBytes);
      std::memcpy(row, right, kBytes);
      std::memcpy(right, left, kBytes);
    } else {
      std::swap_ranges(row, row + pixel, right);
    }
  }
}

void flip_row_in_place(std::byte* row, int64_t width, size_t pixel) {
  switch (pixel) {
    case 1: return swap_pixels<1>(row, width, pixel);
    case 3: return swap_pixels<3>(row, width, pixel);
    case 4: return swap_pixels<4>(row, width, pixel);
    case 6: return swap_pixels<6>(row, width, pixel);
    case 12: return swap_pixels<12>(row, width, pixel);
    default: return swap_pixels<0>(row, width, pixel);
  }
}

}  // namespace

void flip_left_right(const void* src, ImageSize size, int64_t element_bytes, void* dst) {
  const auto pixel = static_cast<size_t>(size.channels * element_bytes);
  const size_t stride = static_cast<size_t>(size.width) * pixel;
  const auto* from = static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  for (int64_t y = 0; y < size.height; ++y, from += stride, to += stride) {
    if (src == dst) {
      flip_row_in_place(to, size.width, pixel);
    } else {
      flip_row(from, size.width, pixel, to);
    }
  }
}

void crop(const void* src, ImageSize size, int64_t element_bytes, int64_t y, int64_t x,
          int64_t height, int64_t width, void* dst) {
  const bool inside = y >= 0 && x >= 0 && height >= 0 && width >= 0 && y <= size.height &&
                      x <= size.width && height <= size.height - y && width <= size.width - x;
  if (!inside) {
    const auto pair = [](int64_t a, int64_t b) {
      return std::to_string(a) + "x" + std::to_string(b);
    };
    throw Error(Code::invalid_argument, "crop: window outside the image: y " + std::to_string(y) +
                                            ", x " + std::to_string(x) + ", size " +
                                            pair(height, width) + ", image " +
                                            pair(size.height, size.width));
  }
  const int64_t pixel = size.channels * element_bytes;
  const auto* from = static_cast<const std::byte*>(src) + (y * size.width + x) * pixel;
  auto* to = static_cast<std::byte*>(dst);
  const auto bytes = static_cast<size_t>(width * pixel);
  for (int64_t row = 0; row < height; ++row, from += size.width * pixel, to += bytes) {
    std::memcpy(to, from, bytes);
  }
}

void transpose_hwc_to_chw(const uint8_t* src, ImageSize size, uint8_t* dst) {
  if (size.channels != 3) return transpose(src, size, dst);
  HWY_DYNAMIC_DISPATCH(split_three_bytes)(src, size.height * size.width, dst);
}
void transpose_hwc_to_chw(const float* src, ImageSize size, float* dst) {
  if (size.channels != 3) return transpose(src, size, dst);
  HWY_DYNAMIC_DISPATCH(split_three_floats)(src, size.height * size.width, dst);
}

void normalize(const float* src, int64_t pixels, int channels, const float* subtract,
               const float* divide, float* dst) {
  normalize_pixels(src, pixels, channels, subtract, divide, dst);
}
void normalize(const uint8_t* src, int64_t pixels, int channels, const float* subtract,
               const float* divide, float* dst) {
  normalize_pixels(src, pixels, channels, subtract, divide, dst);
}

void normalize_image(const float* src, ImageSize size, const Epilogue& epilogue, float* dst) {
  normalize_rows(src, size, epilogue, dst);
}
void normalize_image(const uint8_t* src, ImageSize size, const Epilogue& epilogue, float* dst) {
  normalize_rows(src, size, epilogue, dst);
}

}  // namespace penstock
#endif  // HWY_ONCE
