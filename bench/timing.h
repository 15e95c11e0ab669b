// Clocks of benches.
#pragma once

#include <algorithm>
#include <chrono>

namespace penstock {

// Seconds since some moment.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The shortest of `rounds` calls, in seconds.
template <typename F>
double shortest(int rounds, F f) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const double start = now_seconds();
    f();
    best = std::min(best, now_seconds() - start);
  }
  return best;
}

}  // namespace penstock
