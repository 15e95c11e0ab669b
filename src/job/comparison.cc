#include "job/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace penstock {
namespace {

constexpr int kMostPairs = 12;
constexpr int kPlannedRuns = 2 * 8;  // of which the time is divided among

// Student's t for a two-sided 95 % interval.
double t_95(size_t degrees) {
  constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447,
                               2.365,  2.306, 2.262, 2.228, 2.201};
  return kTable[std::clamp<size_t>(degrees, 1, std::size(kTable)) - 1];
}

struct Total {
  double elements = 0, seconds = 0;

  // Returns the rate of this run; a run that saw nothing counts as half an element.
  double add(const RateSample& s) {
    elements += s.elements;
    seconds += s.seconds;
    return std::max(s.elements, 0.5) / std::max(s.seconds, 1e-9);
  }
  double rate() const { return seconds > 0 ? elements / seconds : 0; }
};

void set_interval(const std::vector<double>& logs, Comparison* out) {
  double mean = 0, squares = 0;
  for (const double x : logs) mean += x / static_cast<double>(logs.size());
  for (const double x : logs) squares += (x - mean) * (x - mean);
  out->ratio = std::exp(mean);
  out->low = 0;
  out->high = std::numeric_limits<double>::infinity();
  if (logs.size() < 2) return;
  const double n = static_cast<double>(logs.size());
  const double half = t_95(logs.size() - 1) * std::sqrt(squares / (n - 1) / n);
  out->low = std::exp(mean - half);
  out->high = std::exp(mean + half);
}

}  // namespace

Comparison compare_rates(const SampleRate& sample, double seconds) {
  Comparison out;
  Total before, after;
  std::vector<double> logs;
  while (out.pairs < kMostPairs) {
    double rates[2];
    for (const bool second : {false, true}) {
      const bool rewritten = (out.pairs % 2 == 1) != second;
      rates[rewritten] =
          (rewritten ? after : before).add(sample(rewritten, seconds / kPlannedRuns));
    }
    logs.push_back(std::log(rates[1] / rates[0]));
    ++out.pairs;
    set_interval(logs, &out);
    if (out.pairs < kLeastPairs) continue;
    if (out.is_faster() || out.is_slower() || before.seconds + after.seconds >= seconds) break;
  }
  out.before = before.rate();
  out.after = after.rate();
  return out;
}

Comparison compare_once(const SampleRate& sample, double seconds) {
  Comparison out;
  Total before, after;
  const double first = before.add(sample(false, seconds / 2));
  set_interval({std::log(after.add(sample(true, seconds / 2)) / first)}, &out);
  out.pairs = 1;
  out.before = before.rate();
  out.after = after.rate();
  return out;
}

}  // namespace penstock
