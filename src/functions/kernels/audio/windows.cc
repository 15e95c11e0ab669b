#include "functions/kernels/audio/windows.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/charged.h"

namespace penstock {

ChargedVector<float> raised_cosine_window(int64_t length, bool periodic, double low, double high) {
  if (length == 1) return {1.0f};
  const int64_t around = length - (periodic && length % 2 == 0 ? 0 : 1);
  ChargedVector<float> out;
  for (int64_t i = 0; i < length; ++i) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(around);
    out.push_back(static_cast<float>(low - high * std::cos(angle)));
  }
  return out;
}

ChargedVector<float> hann_window(int64_t length) {
  return raised_cosine_window(length, true, 0.5, 0.5);
}

ChargedVector<float> kaiser_window(int64_t length, double beta) {
  ChargedVector<float> out;
  const double half = static_cast<double>(length - 1) / 2;
  for (int64_t i = 0; i < length; ++i) {
    const double at = half == 0 ? 0 : (static_cast<double>(i) - half) / half;
    out.push_back(
        static_cast<float>(std::cyl_bessel_i(0.0, beta * std::sqrt(std::max(0.0, 1 - at * at))) /
                           std::cyl_bessel_i(0.0, beta)));
  }
  return out;
}

ChargedVector<float> vorbis_window(int64_t length) {
  ChargedVector<float> out;
  for (int64_t i = 0; i < length; ++i) {
    const double sine =
        std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(length));
    out.push_back(static_cast<float>(std::sin(std::numbers::pi / 2 * sine * sine)));
  }
  return out;
}

ChargedVector<float> inverse_window(const ChargedVector<float>& window, int64_t step) {
  const auto length = static_cast<int64_t>(window.size());
  ChargedVector<float> out(window.size(), 0.0f);
  for (int64_t i = 0; i < length; ++i) {
    double sum = 0;
    for (int64_t j = i % step; j < length; j += step) {
      const auto value = static_cast<double>(window[static_cast<size_t>(j)]);
      sum += value * value;
    }
    const auto at = static_cast<size_t>(i);
    if (sum > 0) out[at] = static_cast<float>(static_cast<double>(window[at]) / sum);
  }
  return out;
}

}  // namespace penstock
