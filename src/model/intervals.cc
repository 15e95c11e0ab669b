#include "model/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace penstock {
namespace {

constexpr uint64_t kSeed = 0x70656e73746f636b;
constexpr double kTail = 0.05;  // on each side
constexpr double kNormal95 = 1.645;

// Student's t that 5 % exceed.
double t_95(double degrees) {
  constexpr double kTable[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860,
                               1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746};
  const auto i = static_cast<size_t>(std::max(1.0, degrees)) - 1;
  return i < std::size(kTable) ? kTable[i] : kNormal95 * (1 + 1 / degrees);
}

// The run of neighbours drawn at once: n^(1/3) is the order that serves means of dependent data.
size_t block_slices(size_t slices) {
  return static_cast<size_t>(std::lround(std::cbrt(static_cast<double>(slices))));
}

template <typename T>
void add_to(const std::vector<T>& more, std::vector<double>* sum) {
  sum->resize(more.size());
  for (size_t i = 0; i < more.size(); ++i) (*sum)[i] += static_cast<double>(more[i]);
}

void add(const TraceSlice& s, SliceSums* sums) {
  sums->seconds += s.seconds;
  sums->process_cpu_seconds += s.process_cpu_seconds;
  sums->elements += static_cast<double>(s.elements);
  add_to(s.stage_elements, &sums->stage_elements);
  add_to(s.stage_bytes_read, &sums->stage_bytes_read);
  add_to(s.stage_cpu_seconds, &sums->stage_cpu_seconds);
}

}  // namespace

bool Estimate::has_interval() const { return !std::isinf(high) || std::isinf(value); }

Estimate without_interval(double value) {
  return {0, value, std::numeric_limits<double>::infinity()};
}

Estimate mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double x : values) mean += x / n;
  for (const double x : values) squares += (x - mean) * (x - mean);
  if (values.size() < 2) return without_interval(mean);
  const double half = t_95(n - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean - half, mean, mean + half};
}

Resamples::Resamples(const Trace& trace) {
  const std::vector<TraceSlice>& slices = trace.slices;
  const size_t n = slices.size();
  if (n < kLeastSlices) return;
  slices_ = n;
  for (const TraceSlice& s : slices) add(s, &whole_);
  const size_t length = block_slices(n);
  // n / length blocks are independent, and their mean takes one degree of freedom.
  const double blocks = static_cast<double>(n) / static_cast<double>(length);
  widen_ = std::sqrt(blocks / (blocks - 1)) * t_95(blocks - 1) / kNormal95;
  draws_.resize(kDraws);
  for (size_t d = 0; d < kDraws; ++d) {
    for (size_t drawn = 0; drawn < n;) {
      const size_t first = mix(mix(kSeed, d), drawn) % n;
      for (size_t i = 0; i < length && drawn < n; ++i, ++drawn)
        add(slices[(first + i) % n], &draws_[d]);
    }
  }
}

Spread Resamples::spread(const SliceFigure& figure) const {
  if (slices_ == 0) return {};
  const double whole = figure(whole_);
  if (!(whole > 0) || std::isinf(whole)) return {};
  Spread out;
  out.reserve(draws_.size());
  for (const SliceSums& draw : draws_) {
    const double drawn = figure(draw);
    if (!(drawn > 0) || std::isinf(drawn)) return {};  // seen in a few slices only
    out.push_back(std::pow(drawn / whole, widen_));
  }
  return out;
}

Estimate with_spread(double value, Spread spread) {
  if (spread.empty()) return without_interval(value);
  std::ranges::sort(spread);
  const auto at = [&](double share) {
    return spread[static_cast<size_t>(share * static_cast<double>(spread.size() - 1))];
  };
  // The sums of other draws lie around those of the slices, not always on both sides.
  return {value * std::min(1.0, at(kTail)), value, value * std::max(1.0, at(1 - kTail))};
}

}  // namespace penstock
