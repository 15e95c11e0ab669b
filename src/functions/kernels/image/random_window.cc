#include "functions/kernels/image/random_window.h"

#include <cmath>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/op.h"

namespace penstock {

Attr number_pair(double low, double high) {
  return Attr::list({Attr::floating(low), Attr::floating(high)});
}

NumberPair read_number_pair(const Attrs& attrs, const char* name) {
  const Attr& attr = attrs[name];
  ChargedVector<double> values;
  if (attr.is_tensor() && is_number(attr.tensor().dtype())) {
    for (int64_t i = 0; i < attr.tensor().entries_count(); ++i) {
      values.push_back(number_at(attr.tensor(), i));
    }
  }
  for (const Attr& item : attr.items()) {
    if (item.is_tensor() && is_number(item.tensor().dtype())) values.push_back(item.as_float());
  }
  if (values.size() != 2 || !(values[0] > 0) || !(values[1] >= values[0]) ||
      !std::isfinite(values[1])) {
    throw TypeError{-1, name, "must be two positive numbers, the smaller one first"};
  }
  return {values[0], values[1]};
}

Window draw_window(int64_t height, int64_t width, NumberPair scale, NumberPair ratio,
                   RandomStream* stream) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const double low = std::log(ratio.low), high = std::log(ratio.high);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double share = scale.low + stream->next_double() * (scale.high - scale.low);
    const double shape = std::exp(low + stream->next_double() * (high - low));
    const auto w = static_cast<int64_t>(std::nearbyint(std::sqrt(area * share * shape)));
    const auto h = static_cast<int64_t>(std::nearbyint(std::sqrt(area * share / shape)));
    if (w <= 0 || h <= 0 || w > width || h > height) continue;
    const uint64_t y = stream->next_below(static_cast<uint64_t>(height - h + 1));
    const uint64_t x = stream->next_below(static_cast<uint64_t>(width - w + 1));
    return {static_cast<int64_t>(y), static_cast<int64_t>(x), h, w};
  }
  return {};
}

Window central_window(int64_t height, int64_t width, NumberPair ratio) {
  const double shape = static_cast<double>(width) / static_cast<double>(height);
  int64_t h = height, w = width;
  if (shape < ratio.low) {
    h = static_cast<int64_t>(std::nearbyint(static_cast<double>(width) / ratio.low));
  } else if (shape > ratio.high) {
    w = static_cast<int64_t>(std::nearbyint(static_cast<double>(height) * ratio.high));
  }
  return {(height - h) / 2, (width - w) / 2, h, w};
}

}  // namespace penstock
