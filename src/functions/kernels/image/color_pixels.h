// Colour arithmetic on packed float32 pixels in [0, 1], and the frame of the ops that use it.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>

#include "functions/kernels/image/image_ops.h"

namespace penstock {

struct Hsv {
  float hue, saturation, value;  // each in [0, 1]
};
Hsv rgb_to_hsv(const float* rgb);
void hsv_to_rgb(Hsv hsv, float* rgb);

// A reference to a callable `void(float* pixels, int64_t count)`.
class PixelStep {
 public:
  template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, PixelStep>)
  PixelStep(Callable&& callable)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, float* pixels, int64_t count) {
          (*static_cast<std::remove_reference_t<Callable>*>(object))(pixels, count);
        }) {}
  void operator()(float* pixels, int64_t count) const { call_(object_, pixels, count); }

 private:
  void* object_;
  void (*call_)(void*, float*, int64_t);
};

// Writes `count` pixels of `channels` values of any number dtype, changed by `step`, in the same
// dtype. Integers stand for [0, 1] and saturate (convert_image_dtype). Works in pieces that stay in
// the cache.
void change_pixels(DType dtype, const std::byte* from, int64_t count, int64_t channels,
                   PixelStep step, std::byte* to);
// The same for the whole of call.inputs[0], which must have `channels` (0: any) on its last axis.
void change_image(const char* op, const RowCall& call, int64_t channels, PixelStep step);
// Of any number of channels, by a step that changes each value on its own: bytes go through a
// table.
void change_values(const char* op, const RowCall& call, PixelStep step);

// What each byte becomes.
using ByteTable = std::array<uint8_t, 256>;
ByteTable byte_table(PixelStep step);
void look_up(const uint8_t* from, int64_t count, const ByteTable& table, uint8_t* to);

// Throws TypeError unless input 0 may be an image of numbers with `channels` (0: any).
const LeafSpec& infer_colors(const InferContext& context, int64_t channels);

}  // namespace penstock
