#include "cluster/queue_turns.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::cluster {
namespace {

constexpr double kNothing_bytes = 1e-6;  // what rounding leaves of a turn

double sum_of_windows(const std::vector<Flow>& flows) {
  double out = 0;
  for (const Flow& f : flows) out += f.window;
  return out;
}

}  // namespace

FirstDone first_done(const std::vector<Flow>& flows) {
  if (flows.size() == 1) return {0, flows[0].left};
  // Turns that each needs to the last, the one that is under way (for the first flow) among them.
  const auto turns_of = [&](size_t i) {
    const Flow& f = flows[i];
    const double later = f.left - (i == 0 ? f.turn : f.window);
    return later <= kNothing_bytes ? 0.0 : std::ceil((later - kNothing_bytes) / f.window);
  };
  FirstDone out;
  double rounds = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < flows.size(); ++i) {
    if (const double n = turns_of(i); n < rounds) {
      rounds = n;
      out.flow = i;
    }
  }
  // Of those before it in the round each has had one turn more than `rounds` whole ones.
  out.bytes = flows[out.flow].left;
  for (size_t i = 0; i < flows.size(); ++i) {
    if (i == out.flow) continue;
    const double first = i == 0 ? flows[i].turn : flows[i].window;
    const double turns = rounds + (i < out.flow ? 1 : 0);
    if (turns > 0) out.bytes += first + (turns - 1) * flows[i].window;
  }
  return out;
}

void serve_turns(double bytes, std::vector<Flow>* flows) {
  if (flows->size() == 1) {
    Flow& f = flows->front();
    f.left = std::max(0.0, f.left - bytes);
    f.turn = f.window;
    return;
  }
  // Whole rounds leave the order and the turn under way as they were.
  const double rounds = std::floor(bytes / sum_of_windows(*flows));
  if (rounds > 0) {
    for (Flow& f : *flows) {
      f.left = std::max(0.0, f.left - rounds * f.window);
      bytes -= rounds * f.window;
    }
  }
  size_t at = 0;
  while (bytes > kNothing_bytes) {
    Flow& f = (*flows)[at];
    const double now = std::min(bytes, f.turn);
    f.left = std::max(0.0, f.left - now);
    f.turn -= now;
    bytes -= now;
    if (f.turn > kNothing_bytes || f.left <= kNothing_bytes) break;
    f.turn = f.window;
    at = at + 1 == flows->size() ? 0 : at + 1;
  }
  std::rotate(flows->begin(), flows->begin() + static_cast<ptrdiff_t>(at), flows->end());
}

}  // namespace penstock::cluster
