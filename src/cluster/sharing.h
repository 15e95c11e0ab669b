// How flows that cross several links divide them: rules for the whole network at once.
#pragma once

#include <cstddef>
#include <vector>

namespace penstock::cluster {

// A flow over one or two links.
struct SharedFlow {
  static constexpr size_t kNoLink = static_cast<size_t>(-1);
  size_t first = 0, second = kNoLink;  // links
  double weight = 1;
  double rate = 0;  // what the rules below set
};

// Max-min by progressive filling: the link with the least for each unit of weight fixes its flows,
// and so on with what is left. REQUIRES capacities of more than 0.
void share_max_min(const std::vector<double>& capacity, std::vector<SharedFlow>* flows);

// Max-min with weights that go as 1 / round trip: each full link on a flow's way adds its queue to
// it, all queues alike, so a flow over two full links has half the weight of one over a single
// one. Weights are set.
void share_by_round_trip(const std::vector<double>& capacity, std::vector<SharedFlow>* flows);

// Rates that maximise the sum of x^(1 - alpha) / (1 - alpha) (alpha 1: of log x), by dual ascent on
// the links' prices, at most `rounds` of them. `prices` is by link, and where the ascent begins:
// empty, or what the call before left. No link carries more than it can.
void share_alpha_fair(const std::vector<double>& capacity, double alpha, int rounds,
                      std::vector<double>* prices, std::vector<SharedFlow>* flows);

}  // namespace penstock::cluster
