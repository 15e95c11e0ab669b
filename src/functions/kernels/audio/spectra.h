// Short-time spectra of one signal.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/charged.h"
#include "functions/attr.h"

namespace penstock {

// How a signal is cut into frames, each weighted and transformed.
struct SpectrumPlan {
  int64_t frame_length = 0, frame_step = 1, fft_length = 0;
  bool pad_end = false;
  bool center = false;  // frame i lies around sample i * step; zeros or mirrored samples outside
  bool reflect = false;
  bool in_middle = false;       // the window stands in the middle of fft_length, else at its front
  ChargedVector<float> window;  // frame_length values

  // From the attributes frame_length, frame_step, fft_length and, where they are there, pad_end,
  // center, pad_mode, window and window_at. Throws TypeError.
  explicit SpectrumPlan(const Attrs& attrs);
  int64_t bins() const { return fft_length / 2 + 1; }
  int64_t frames(int64_t samples) const;
};

// Frames of `samples` values, weighted, [frames, fft_length].
void windowed_frames(const SpectrumPlan& plan, const float* signal, int64_t samples,
                     ChargedVector<float>* out);
// Complex [frames, bins, 2].
void short_time_transform(const SpectrumPlan& plan, const float* signal, int64_t samples,
                          float* out);

}  // namespace penstock
