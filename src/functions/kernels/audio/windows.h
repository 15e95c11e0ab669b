// Windows that frames of a signal are weighted with.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock {

// low - high * cos of once around; periodic ones leave the last value of an even length out.
std::vector<float> raised_cosine_window(int64_t length, bool periodic, double low, double high);
std::vector<float> hann_window(int64_t length);  // periodic
std::vector<float> kaiser_window(int64_t length, double beta);
std::vector<float> vorbis_window(int64_t length);
// What a frame that was weighted with `window` is to be weighted with before overlap_and_add, so
// that the sum is the signal.
std::vector<float> inverse_window(const std::vector<float>& window, int64_t step);

}  // namespace penstock
