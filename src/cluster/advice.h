// Advice from predicted points: where more workers stop paying, and the best size.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/predict.h"

namespace penstock::cluster {

struct Prices {
  double worker = 0, server = 0;  // per hour
  std::string currency;
};
// Reads PRICES.json (docs/format/predict.md); `file` is for messages. Throws DATA_LOSS if the text
// is not JSON, INVALID_ARGUMENT for invalid keys or values and if nothing has a price.
Prices read_prices(const std::string& file, std::string_view json);

// The first number of workers, with `servers` servers, that brings less than 5 % a worker over the
// size before, as every later size does; 0 if no predicted size reaches it. `gain` is the speed
// that an added worker brings there, `binds` the resource used most.
struct Saturation {
  int32_t servers = 1, workers = 0;
  // The 90 % interval of `workers`, from the intervals of the points; both are `workers` if these
  // have none. `most` is 0 if perhaps no predicted size reaches it.
  int32_t fewest = 0, most = 0;
  double gain = 0;
  // The first size before that one, if any, whose added workers bring less than 5 % (or cost speed)
  // although later ones bring more; 0: none.
  int32_t dip = 0;
  double dip_gain = 0;
  std::string binds;
  bool batches = false;  // the speed is that of batches: a step is one of several workers
};

struct Advice {
  std::vector<Saturation> saturation;  // one for each number of servers of several sizes
  Point best;  // most batches/s; the fewest hosts among points within 1 % of it
  std::optional<Point> best_for_budget;  // the same among points within the budget
};

std::string hosts_of(const Point& point);                // Returns such as "4 workers, 1 server".
double price(const Point& point, const Prices& prices);  // Returns the price per hour.
// REQUIRES points. `budget` is per hour; it is ignored without prices, and
// infinite if there is none.
Advice advise(const std::vector<Point>& points, const std::optional<Prices>& prices, double budget);
// Returns which sizes wait for their input and what would help, a line for each number of servers.
std::vector<std::string> feed_lines(const std::vector<Point>& points, const Feed& feed);
// Returns the advice in words, one line each.
std::vector<std::string> advice_lines(const Advice& advice, const std::optional<Prices>& prices,
                                      double budget);

}  // namespace penstock::cluster
