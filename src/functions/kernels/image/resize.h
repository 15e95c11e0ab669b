// Resizing of [height, width, channels] images with the semantics of tf.image.resize: borders
// repeated or left out, no rounding.
//
// Rows are packed; source and destination must not overlap. Results are the same on every machine:
// each value is computed in float32 in one fixed order, without fused multiply-add (resize.cc must
// be compiled with -ffp-contract=off). Thread-safe; scratch memory is kept per thread.
// Errors: INVALID_ARGUMENT for an empty image or output, or sides above 2^24 - 1.
#pragma once

#include <cstdint>

#include "functions/kernels/image/pixel_sink.h"
#include "functions/kernels/image/resize_filter.h"

namespace penstock {

// What resize_image does. half_pixel is TensorFlow's version 2; the rest of the placements, its
// older kernels, are for nearest, bilinear, bicubic and area only.
struct Resizing {
  ResizeMethod method = ResizeMethod::bilinear;
  bool antialias = false;
  ResizePlacement placement{};
};

// Writes float32 [out_height, out_width, channels] by any method but nearest. Bilinear without
// antialias takes the 2x2 nearest pixels, bit-equal to TensorFlow's ResizeBilinear; all others sum
// weighted rows first, then columns.
void resize_image(const uint8_t* src, ImageSize size, int64_t out_height, int64_t out_width,
                  const Resizing& how, float* dst);
void resize_image(const float* src, ImageSize size, int64_t out_height, int64_t out_width,
                  const Resizing& how, float* dst);

// resize_image of version 2, bilinear.
void resize_bilinear(const uint8_t* src, ImageSize size, int64_t out_height, int64_t out_width,
                     bool antialias, float* dst);
void resize_bilinear(const float* src, ImageSize size, int64_t out_height, int64_t out_width,
                     bool antialias, float* dst);

// Copies the pixel at floor((i + 0.5) * scale), or where `placement` says; keeps the dtype, whose
// elements have `element_bytes` bytes.
void resize_nearest(const void* src, ImageSize size, int64_t element_bytes, int64_t out_height,
                    int64_t out_width, ResizePlacement placement, void* dst);

}  // namespace penstock
