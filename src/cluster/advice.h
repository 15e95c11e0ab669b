// What follows from predicted points: where more workers stop paying, and the best size.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/predict.h"

namespace penstock::cluster {

struct Prices {
  double worker = 0, server = 0;  // an hour each
  std::string currency;
};
// PRICES.json (docs/format/predict.md); `file` is for messages. Throws DATA_LOSS for text that is
// no JSON, INVALID_ARGUMENT for keys and values that make no sense, and where nothing has a price.
Prices read_prices(const std::string& file, std::string_view json);

// With `servers` servers, the first number of workers of which each of the last added ones brings
// less than 5 %; 0 when none of the sizes is as many. `gain` is what it brings, `binds` what is
// used most there.
struct Saturation {
  int32_t servers = 1, workers = 0;
  double gain = 0;
  std::string binds;
};

struct Advice {
  std::vector<Saturation> saturation;    // one for each number of servers of several sizes
  Point best;                            // most batches/s; of those within 1 % the fewest hosts
  std::optional<Point> best_for_budget;  // the same of those within the budget
};

double price(const Point& point, const Prices& prices);  // an hour
// REQUIRES points. Without prices `budget` does not count.
Advice advise(const std::vector<Point>& points, const std::optional<Prices>& prices, double budget);
// In words, one line each.
std::vector<std::string> advice_lines(const Advice& advice, const std::optional<Prices>& prices,
                                      double budget);

}  // namespace penstock::cluster
