// Rules that divide several links between flows that cross more than one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::cluster {

// A flow over one or two links.
struct SharedFlow {
  static constexpr size_t kNoLink = static_cast<size_t>(-1);
  size_t first = 0, second = kNoLink;  // indices of links
  double weight = 1;
  double rate = 0;  // set by the rules below
};

// Max-min by progressive filling: the link with the least capacity per unit of weight fixes the
// rates of its flows, then the rest is divided the same way. REQUIRES positive capacities.
void share_max_min(const std::vector<double>& capacity, std::vector<SharedFlow>* flows);

// Serves flows of turn 0 first, by max-min, then those of turn 1 with the capacity that remains,
// and so on. `turns` is by flow; links may be full.
void share_in_turn(const std::vector<double>& capacity, const std::vector<int32_t>& turns,
                   std::vector<SharedFlow>* flows);

// Max-min with weights proportional to 1 / round trip: each full link of a flow adds its queue to
// the round trip, all queues alike, so a flow over two full links has half the weight of a flow
// over one. Sets the weights.
void share_by_round_trip(const std::vector<double>& capacity, std::vector<SharedFlow>* flows);

// Rates that maximise the sum of x^(1 - alpha) / (1 - alpha) (alpha 1: of log x), by dual ascent on
// the links' prices with at most `rounds` rounds. `prices`, by link, is the start of the ascent:
// empty, or the result of the previous call. No link carries more than its capacity.
void share_alpha_fair(const std::vector<double>& capacity, double alpha, int rounds,
                      std::vector<double>* prices, std::vector<SharedFlow>* flows);

}  // namespace penstock::cluster
