// Max-min: all flows grow together until a link is full; its flows stop, the others go on. Links
// that fill at the same time must be handled together (`edge`), because rounding would otherwise
// fix nearly equal flows in separate rounds with different rates.
//
// Round trip: weights depend on which links are full, and full links depend on weights. The two may
// alternate: a link that is full only while its flows ignore it has a queue of some length between.
// Therefore a link counts by the share of the rounds in which it was full. The loop stops when that
// share no longer changes, and after kRoundTripRounds at the latest. Shares are continuous in the
// rates this way.
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
constexpr int kRoundTripRounds = 32;

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
  std::vector<double> room = capacity, open(capacity.size());
  std::vector<bool> tight(capacity.size());
  for (SharedFlow& flow : *flows) flow.rate = -1;
  for (size_t left = flows->size(); left > 0;) {
    std::ranges::fill(open, 0.0);
    for (const SharedFlow& flow : *flows) {
      if (flow.rate < 0) for_links(flow, [&](size_t l) { open[l] += flow.weight; });
    }
    double least = kNever;
    for (size_t l = 0; l < room.size(); ++l)
      if (open[l] > 0) least = std::min(least, room[l] / open[l]);
    const double edge = least * (1 + 1e-9);
    for (size_t l = 0; l < room.size(); ++l) tight[l] = open[l] > 0 && room[l] / open[l] <= edge;
    for (SharedFlow& flow : *flows) {
      bool stops = false;
      for_links(flow, [&](size_t l) { stops = stops || tight[l]; });
      if (flow.rate >= 0 || !stops) continue;
      flow.rate = least * flow.weight;
      --left;
      for_links(flow, [&](size_t l) { room[l] = std::max(0.0, room[l] - flow.rate); });
    }
  }
}

void share_in_turn(const std::vector<double>& capacity, const std::vector<int32_t>& turns,
                   std::vector<SharedFlow>* flows) {
  std::vector<double> room = capacity;
  const int32_t last = turns.empty() ? -1 : *std::ranges::max_element(turns);
  std::vector<SharedFlow> some;
  for (int32_t turn = 0; turn <= last; ++turn) {
    some.clear();
    for (size_t i = 0; i < flows->size(); ++i)
      if (turns[i] == turn) some.push_back((*flows)[i]);
    share_max_min(room, &some);
    size_t at = 0;
    for (size_t i = 0; i < flows->size(); ++i) {
      if (turns[i] != turn) continue;
      const double rate = (*flows)[i].rate = some[at++].rate;
      for_links((*flows)[i], [&](size_t l) { room[l] = std::max(0.0, room[l] - rate); });
    }
  }
}

void share_by_round_trip(const std::vector<double>& capacity, std::vector<SharedFlow>* flows) {
  for (SharedFlow& flow : *flows) flow.weight = 1;
  share_max_min(capacity, flows);
  std::vector<double> full(capacity.size(), 0);  // share of the rounds
  for (int round = 1; round <= kRoundTripRounds; ++round) {
    const std::vector<double> load = loads(capacity.size(), *flows);
    bool changed = false;
    for (size_t l = 0; l < full.size(); ++l) {
      const double now = load[l] >= kFull * capacity[l] ? 1 : 0;
      changed = changed || now != full[l];
      full[l] += (now - full[l]) / round;
    }
    if (!changed) return;
    for (SharedFlow& flow : *flows) {
      double queues = 0;
      for_links(flow, [&](size_t l) { queues += full[l]; });
      flow.weight = 1 / std::max(1.0, queues);
    }
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
