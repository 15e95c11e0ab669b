#include "cluster/throughput.h"

#include <algorithm>

namespace penstock::cluster {
namespace {

double rate_between(const Outcome& outcome, double from_s, double to_s) {
  double out = 0;
  for (const auto& ends : outcome.step_ends_s) {
    const auto low = std::ranges::lower_bound(ends, from_s);
    const auto high = std::ranges::upper_bound(ends, to_s);
    if (high - low < 2) continue;
    out += static_cast<double>(high - low - 1) / (*(high - 1) - *low);
  }
  return out;
}

}  // namespace

double throughput(const Outcome& outcome, int32_t first) {
  double from_s = 0, to_s = outcome.end_s;
  for (const auto& ends : outcome.step_ends_s) {
    from_s = std::max(from_s, ends[std::min(ends.size() - 1, static_cast<size_t>(first))]);
    to_s = std::min(to_s, ends.back());
  }
  return rate_between(outcome, from_s, to_s);
}

std::vector<double> batch_throughputs(const Outcome& outcome, int32_t first, int32_t length) {
  const std::vector<double>& clock = outcome.step_ends_s[0];
  const auto step = static_cast<size_t>(length);
  std::vector<double> out;
  for (size_t k = static_cast<size_t>(first); k + step < clock.size(); k += step)
    out.push_back(rate_between(outcome, clock[k], clock[k + step]));
  return out;
}

}  // namespace penstock::cluster
