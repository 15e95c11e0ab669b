// Max-min: all flows grow together until a link is full; its flows stop, the others go on. Links
// that fill at the same time must be handled together (`edge`), because rounding would otherwise
// fix nearly equal flows in separate rounds with different rates.
//
// Round trip: weights depend on which links are full, and full links depend on weights. The loop
// stops when no weight changes, and after kRoundTripRounds at the latest, because the two may
// alternate.
//
// Alpha-fair has no closed form. Dual ascent: each link has a price, a flow's rate follows from the
// sum of its prices, and a link's price is multiplied by a power of its load over its capacity. The
// exponent of that power shrinks with alpha, because rates then react more strongly to prices.
// Prices never reach 0 (kFreePrice), or they could not rise again. The result may overload a link
// slightly; the last loop scales such flows down.
#include "cluster/sharing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::cluster {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kFull = 0.999;
constexpr double kClose = 1e-4;  // relative to a full link's load: stop the ascent when this close
constexpr double kFreePrice = 1e-12;  // of a link that does not limit any flow
constexpr int kRoundTripRounds = 4;

// Calls f(link) for each link of the flow.
template <typename F>
void for_links(const SharedFlow& flow, const F& f) {
  f(flow.first);
  if (flow.second != SharedFlow::kNoLink) f(flow.second);
}

std::vector<double> loads(size_t links, const std::vector<SharedFlow>& flows) {
  std::vector<double> out(links, 0);
  for (const SharedFlow& flow : flows) for_links(flow, [&](size_t l) { out[l] += flow.rate; });
  return out;
}

}  // namespace

void share_max_min(const std::vector<double>& capacity, std::vector<SharedFlow>* flows) {
  std::vector<double> room = capacity, open(capacity.size(), 0);
  for (SharedFlow& flow : *flows) {
    flow.rate = -1;
    for_links(flow, [&](size_t l) { open[l] += flow.weight; });
  }
  for (size_t left = flows->size(); left > 0;) {
    double least = kNever;
    for (size_t l = 0; l < room.size(); ++l)
      if (open[l] > 0) least = std::min(least, room[l] / open[l]);
    const double edge = least * (1 + 1e-9);
    std::vector<bool> tight(room.size());
    for (size_t l = 0; l < room.size(); ++l) tight[l] = open[l] > 0 && room[l] / open[l] <= edge;
    for (SharedFlow& flow : *flows) {
      bool stops = false;
      for_links(flow, [&](size_t l) { stops = stops || tight[l]; });
      if (flow.rate >= 0 || !stops) continue;
      flow.rate = least * flow.weight;
      --left;
      for_links(flow, [&](size_t l) {
        room[l] = std::max(0.0, room[l] - flow.rate);
        // Rounding leaves a little of equal weights, which would look like a flow.
        open[l] = open[l] - flow.weight > 1e-9 ? open[l] - flow.weight : 0;
      });
    }
  }
}

void share_by_round_trip(const std::vector<double>& capacity, std::vector<SharedFlow>* flows) {
  for (SharedFlow& flow : *flows) flow.weight = 1;
  share_max_min(capacity, flows);
  for (int round = 0; round < kRoundTripRounds; ++round) {
    const std::vector<double> load = loads(capacity.size(), *flows);
    bool changed = false;
    for (SharedFlow& flow : *flows) {
      double full = 0;
      for_links(flow, [&](size_t l) { full += load[l] >= kFull * capacity[l] ? 1 : 0; });
      const double weight = 1 / std::max(1.0, full);
      changed = changed || weight != flow.weight;
      flow.weight = weight;
    }
    if (!changed) return;
    share_max_min(capacity, flows);
  }
}

void share_alpha_fair(const std::vector<double>& capacity, double alpha, int rounds,
                      std::vector<double>* prices, std::vector<SharedFlow>* flows) {
  if (flows->empty()) return;
  const double unit = *std::ranges::max_element(capacity);
  prices->resize(capacity.size(), 1);
  for (double& p : *prices) p = std::max(p, kFreePrice);
  const double step = 0.5 * std::min(1.0, alpha);
  std::vector<double> load;
  for (int round = 0; round < rounds; ++round) {
    for (SharedFlow& flow : *flows) {
      double price = 0, most = kNever;
      for_links(flow, [&](size_t l) {
        price += (*prices)[l];
        most = std::min(most, capacity[l]);
      });
      flow.rate = std::min(most, unit * std::pow(std::max(price, kFreePrice), -1 / alpha));
    }
    load = loads(capacity.size(), *flows);
    bool close = true;
    for (size_t l = 0; l < load.size(); ++l) {
      if (load[l] <= 0) continue;
      const double fill = load[l] / capacity[l];
      close = close && fill < 1 + kClose && (fill > 1 - kClose || (*prices)[l] < 1e-6);
      (*prices)[l] = std::max(kFreePrice, (*prices)[l] * std::pow(fill, step));
    }
    if (close) break;
  }
  for (SharedFlow& flow : *flows) {
    double over = 1;
    for_links(flow, [&](size_t l) { over = std::max(over, load[l] / capacity[l]); });
    flow.rate /= over;
  }
}

}  // namespace penstock::cluster
