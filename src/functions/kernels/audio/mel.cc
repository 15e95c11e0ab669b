#include "functions/kernels/audio/mel.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

constexpr double kSlaneyStep = 200.0 / 3, kSlaneyBreak = 1000.0;
const double kSlaneyLog = std::log(6.4) / 27.0;

double to_mel(double hertz, bool slaney) {
  if (!slaney) return 1127.0 * std::log1p(hertz / 700.0);
  if (hertz < kSlaneyBreak) return hertz / kSlaneyStep;
  return kSlaneyBreak / kSlaneyStep + std::log(hertz / kSlaneyBreak) / kSlaneyLog;
}

double to_hertz(double mel, bool slaney) {
  if (!slaney) return 700.0 * std::expm1(mel / 1127.0);
  constexpr double kBreak = kSlaneyBreak / kSlaneyStep;
  return mel < kBreak ? mel * kSlaneyStep : kSlaneyBreak * std::exp(kSlaneyLog * (mel - kBreak));
}

}  // namespace

MelBank make_mel_bank(const MelScale& scale) {
  MelBank bank;
  bank.bins = scale.bins;
  const double low = to_mel(scale.low_hertz, scale.slaney);
  const double high = to_mel(scale.high_hertz, scale.slaney);
  const auto edge_mel = [&](int64_t i) {
    return low + (high - low) * static_cast<double>(i) / static_cast<double>(scale.bands + 1);
  };
  const auto axis = [&](double mel) { return scale.in_hertz ? to_hertz(mel, scale.slaney) : mel; };
  for (int64_t band = 0; band < scale.bands; ++band) {
    const double left = axis(edge_mel(band)), middle = axis(edge_mel(band + 1));
    const double right = axis(edge_mel(band + 2));
    const double width =
        to_hertz(edge_mel(band + 2), scale.slaney) - to_hertz(edge_mel(band), scale.slaney);
    int64_t first = -1, end = 0;
    bank.offsets.push_back(static_cast<int64_t>(bank.weights.size()));
    for (int64_t bin = scale.skip_first ? 1 : 0; bin < scale.bins; ++bin) {
      const double hertz = scale.rate / 2 * static_cast<double>(bin) /
                           static_cast<double>(std::max<int64_t>(1, scale.bins - 1));
      const double at = scale.in_hertz ? hertz : to_mel(hertz, scale.slaney);
      const double weight =
          std::max(0.0, std::min((at - left) / (middle - left), (right - at) / (right - middle)));
      if (weight <= 0) continue;
      if (first < 0) first = bin;
      end = bin + 1;
      bank.weights.push_back(static_cast<float>(scale.area_norm ? weight * 2 / width : weight));
    }
    bank.starts.push_back(std::max<int64_t>(first, 0));
    bank.counts.push_back(first < 0 ? 0 : end - first);
  }
  return bank;
}

}  // namespace penstock
