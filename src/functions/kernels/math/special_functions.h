// Functions that the C++ library lacks, in float64.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

namespace penstock {

// The derivative of lgamma; NaN at the negative whole numbers and at 0, where it has poles.
inline double digamma(double x) {
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * x);
  }
  double below = 0;
  for (; x < 10; x += 1) below -= 1 / x;
  const double s = 1 / (x * x);
  const double tail =
      s * (1.0 / 12 -
           s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * 691 / 32760)))));
  return below + std::log(x) - 0.5 / x - tail;
}

// The y whose erf is x; infinite at 1 and -1, NaN beyond.
inline double erfinv(double x) {
  if (!(std::fabs(x) < 1))
    return std::fabs(x) == 1 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                             : std::numeric_limits<double>::quiet_NaN();
  // Winitzki's formula is right to 2 in 1000; each step of Halley's method triples the digits.
  constexpr double kA = 0.147;
  const double w = std::log1p(-x * x), t = 2 / (std::numbers::pi * kA) + w / 2;
  double y = std::copysign(std::sqrt(std::sqrt(t * t - w / kA) - t), x);
  for (int i = 0; i < 3; ++i) {
    // Near 1 the complement has the digits.
    const double off = std::fabs(x) < 0.5 ? std::erf(y) - x
                       : x > 0            ? (1 - x) - std::erfc(y)
                                          : std::erfc(-y) - (1 + x);
    y -= off / (std::numbers::inv_sqrtpi * 2 * std::exp(-y * y) + y * off);
  }
  return y;
}

}  // namespace penstock
