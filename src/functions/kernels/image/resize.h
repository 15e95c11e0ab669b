// Resizing of [height, width, channels] images with the semantics of tf.image.resize (version 2):
// half-pixel centres, borders repeated, no rounding.
//
// Rows are packed; source and destination must not overlap. Results are the same on every machine:
// each value is computed in float32 in one fixed order, without fused multiply-add (resize.cc must
// be compiled with -ffp-contract=off). Thread-safe; scratch memory is kept per thread.
// Errors: INVALID_ARGUMENT for an empty image or output, or sides above 2^24 - 1.
#pragma once

#include <cstdint>

#include "functions/kernels/image/jpeg.h"

namespace penstock {

// Writes float32 [out_height, out_width, channels]. Without `antialias` each value comes from the
// 2x2 nearest pixels, bit-equal to TensorFlow's ResizeBilinear; with it, a shrinking axis takes a
// triangle filter widened by the scale (ScaleAndTranslate), summed over rows first.
void resize_bilinear(const uint8_t* src, ImageSize size, int64_t out_height, int64_t out_width,
                     bool antialias, float* dst);
void resize_bilinear(const float* src, ImageSize size, int64_t out_height, int64_t out_width,
                     bool antialias, float* dst);

// Copies the pixel at floor((i + 0.5) * scale); keeps the dtype, whose elements have
// `element_bytes` bytes. TensorFlow ignores antialias here.
void resize_nearest(const void* src, ImageSize size, int64_t element_bytes, int64_t out_height,
                    int64_t out_width, void* dst);

}  // namespace penstock
