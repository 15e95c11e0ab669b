// Windows that frames of a signal are weighted with.
#pragma once

#include <cstdint>
#include <vector>

#include "data/charged.h"

namespace penstock {

// low - high * cos of once around; periodic ones leave the last value of an even length out.
ChargedVector<float> raised_cosine_window(int64_t length, bool periodic, double low, double high);
ChargedVector<float> hann_window(int64_t length);  // periodic
ChargedVector<float> kaiser_window(int64_t length, double beta);
ChargedVector<float> vorbis_window(int64_t length);
// What a frame that was weighted with `window` is to be weighted with before overlap_and_add, so
// that the sum is the signal.
ChargedVector<float> inverse_window(const ChargedVector<float>& window, int64_t step);

}  // namespace penstock
