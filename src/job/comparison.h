// Which of two plans is faster: both are measured in turn until the answer is beyond doubt.
#pragma once

#include <functional>

namespace penstock {

// One measured run.
struct RateSample {
  double elements = 0;
  double seconds = 0;
};

// Runs one of the two plans for about `seconds`.
using SampleRate = std::function<RateSample(bool rewritten, double seconds)>;

struct Comparison {
  double before = 0, after = 0;  // elements per second over all runs of each
  // after / before: the mean of the pairs and its 95 % interval (Student's t over the logarithms);
  // after a single pair low = 0 and high = infinity.
  double ratio = 1, low = 0, high = 0;
  int pairs = 0;

  bool is_faster() const { return low > 1; }
  bool is_slower() const { return high < 1; }
};

// Pairs of runs, each plan first in every other pair, so that what drifts (page cache, clock rate,
// other programs) meets both. At least kLeastPairs, then until the interval excludes 1 or the runs
// have taken `seconds` together.
Comparison compare_rates(const SampleRate& sample, double seconds);

// One run of each for half of the time: for plans that become faster as they run, as a cache fills.
// The interval says nothing; is_faster() is never true.
Comparison compare_once(const SampleRate& sample, double seconds);

inline constexpr int kLeastPairs = 3;

}  // namespace penstock
