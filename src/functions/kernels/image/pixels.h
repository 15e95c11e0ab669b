// Moving and normalising pixels of packed [height, width, channels] images.
//
// Thread-safe; no allocation. Unless said otherwise source and destination must not overlap. Sizes
// are taken as checked, except by crop(). Results are the same on every machine.
#pragma once

#include <cstdint>

#include "functions/kernels/image/jpeg.h"

namespace penstock {

// Mirrors each row; `dst` may be `src`.
void flip_left_right(const void* src, ImageSize size, int64_t element_bytes, void* dst);

// Copies rows [y, y + height) and columns [x, x + width). Errors: INVALID_ARGUMENT when the window
// is not inside the image.
void crop(const void* src, ImageSize size, int64_t element_bytes, int64_t y, int64_t x,
          int64_t height, int64_t width, void* dst);

// [height, width, channels] to [channels, height, width].
void transpose_hwc_to_chw(const uint8_t* src, ImageSize size, uint8_t* dst);
void transpose_hwc_to_chw(const float* src, ImageSize size, float* dst);

// dst = (src - subtract[c]) / divide[c] in float32, with a true division: bit-equal to the single
// steps. Either table may be null and is then left out. `dst` may be `src`.
void normalize(const float* src, int64_t pixels, int channels, const float* subtract,
               const float* divide, float* dst);
void normalize(const uint8_t* src, int64_t pixels, int channels, const float* subtract,
               const float* divide, float* dst);

// The same in one pass with the moves around it: `flip` mirrors each row, `to_chw` gives
// [channels, height, width]. `dst` must not overlap `src`.
struct Epilogue {
  const float* subtract = nullptr;
  const float* divide = nullptr;
  bool flip = false;
  bool to_chw = false;
};
void normalize_image(const float* src, ImageSize size, const Epilogue& epilogue, float* dst);
void normalize_image(const uint8_t* src, ImageSize size, const Epilogue& epilogue, float* dst);

}  // namespace penstock
