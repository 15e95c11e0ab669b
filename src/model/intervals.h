// Intervals of what a trace says: a block bootstrap over its slices (docs/model.md).
//
// A figure of the model is a function of sums over the slices. Drawing slices with replacement, in
// runs of neighbours so that slow and fast phases stay together, gives other sums that the run
// could have had; the spread of the figure over them is its sampling error. The draws have a fixed
// seed: the same trace gives the same interval. The interval does not hold errors of the model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace penstock {

// A value and its interval: 90 % for what follows from slices, 95 % for sizes.
struct Estimate {
  double low = 0, value = 0, high = 0;
  bool exact() const { return low == high; }
  // Returns false if no spread is known: low is 0 then, and high infinite.
  bool has_interval() const;
};

// Returns the value without an interval.
Estimate without_interval(double value);

// Returns the mean and its 90 % interval (Student's t). REQUIRES a value; one has no interval.
Estimate mean_of(std::span<const double> values);

// Sums over slices.
struct SliceSums {
  double seconds = 0, process_cpu_seconds = 0, elements = 0;
  std::vector<double> stage_elements, stage_bytes_read, stage_cpu_seconds;
};
using SliceFigure = std::function<double(const SliceSums&)>;

// A figure of other draws over that of the slices as they are, a value for each draw; empty: the
// figure has no spread to go by.
using Spread = std::vector<double>;

// Draws from the slices of one trace.
class Resamples {
 public:
  static constexpr size_t kLeastSlices = 8;  // fewer say too little about their spread
  static constexpr size_t kDraws = 400;

  explicit Resamples(const Trace& trace);

  // Returns the number of slices, if they suffice; else 0.
  size_t slices() const { return slices_; }
  // Returns an empty spread if the slices do not suffice or the figure is not positive and finite.
  Spread spread(const SliceFigure& figure) const;

 private:
  size_t slices_ = 0;
  double widen_ = 1;  // for the few blocks that there are
  SliceSums whole_;
  std::vector<SliceSums> draws_;
};

// Returns `value` with the interval that holds 90 % of the spread.
Estimate with_spread(double value, Spread spread);

}  // namespace penstock
