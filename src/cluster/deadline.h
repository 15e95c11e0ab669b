// The cheapest cluster that trains a number of examples in a given time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/advice.h"

namespace penstock::cluster {

struct Deadline {
  double examples = 0;  // to train, more than 0
  double within_s = 0;  // more than 0
};

// A value with its 90 % interval; all three are equal where the point has none.
struct Between {
  double value = 0, low = 0, high = 0;
};

// A whole training on the cluster of one point.
struct Training {
  Point point;
  Between hours;
  Between cost;  // in the currency of the prices; without prices in hours of hosts
};

struct DeadlineAnswer {
  std::optional<Training> cheapest;  // that is predicted to meet the deadline
  std::optional<Training> sure;      // that meets it at the slow end of its interval too
  Training fastest;
};

// REQUIRES points; `examples_per_batch` > 0. Takes the faster one of two that cost the same.
DeadlineAnswer meet(const Deadline& deadline, const std::vector<Point>& points,
                    double examples_per_batch, const std::optional<Prices>& prices);
// Returns the answer in words, one line each.
std::vector<std::string> deadline_lines(const DeadlineAnswer& answer, const Deadline& deadline,
                                        const std::optional<Prices>& prices);

}  // namespace penstock::cluster
