#include "model/intervals.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace penstock {
namespace {

TraceSlice slice(double seconds, int64_t elements, double cpu_seconds) {
  TraceSlice out;
  out.seconds = seconds;
  out.process_cpu_seconds = cpu_seconds;
  out.elements = elements;
  out.stage_elements = {elements};
  out.stage_bytes_read = {0};
  out.stage_cpu_seconds = {cpu_seconds};
  return out;
}

double rate(const SliceSums& s) { return s.elements / s.seconds; }

// Elements of known mean cost, whose costs drift together: an AR(1) process in the logarithm.
Trace drifting(int slices, std::mt19937_64* random) {
  constexpr double kKeeps = 0.4, kSpread = 0.3;
  std::normal_distribution<double> normal;
  Trace out;
  double level = normal(*random);
  for (int i = 0; i < slices; ++i) {
    level = kKeeps * level + std::sqrt(1 - kKeeps * kKeeps) * normal(*random);
    const double cost = std::exp(kSpread * level - kSpread * kSpread / 2);  // of mean 1
    out.slices.push_back(slice(cost, 100, cost));
  }
  return out;
}

TEST_CASE("intervals: 90 % intervals of a known process cover its rate in 80 to 97 % of traces") {
  std::mt19937_64 random(16);
  for (const int slices : {12, 32, 60}) {
    constexpr int kTraces = 200;
    int covered = 0;
    for (int i = 0; i < kTraces; ++i) {
      const Trace trace = drifting(slices, &random);
      double seconds = 0;
      for (const TraceSlice& s : trace.slices) seconds += s.seconds;
      const Estimate e = with_spread(100.0 * slices / seconds, Resamples(trace).spread(rate));
      covered += e.low <= 100 && 100 <= e.high;
    }
    CAPTURE(slices);
    CAPTURE(covered);
    CHECK(covered >= 0.80 * kTraces);
    CHECK(covered <= 0.97 * kTraces);
  }
}

TEST_CASE("intervals: the same trace gives the same interval, a steady one a narrow one") {
  std::mt19937_64 random(1);
  const Trace trace = drifting(40, &random);
  const Estimate once = with_spread(100, Resamples(trace).spread(rate));
  const Estimate again = with_spread(100, Resamples(trace).spread(rate));
  CHECK(once.low == again.low);
  CHECK(once.high == again.high);
  CHECK(once.low < 100);
  CHECK(once.high > 100);
  Trace steady;
  steady.slices.assign(40, slice(0.25, 10, 0.125));
  const Estimate same = with_spread(40, Resamples(steady).spread(rate));
  CHECK(same.low == doctest::Approx(40));
  CHECK(same.high == doctest::Approx(40));
}

TEST_CASE("intervals: without enough slices, or without a figure, there is none") {
  Trace trace;
  trace.slices.assign(Resamples::kLeastSlices - 1, slice(1, 10, 1));
  CHECK(Resamples(trace).slices() == 0);
  CHECK(!with_spread(10, Resamples(trace).spread(rate)).has_interval());
  trace.slices.push_back(slice(1, 10, 1));
  CHECK(Resamples(trace).slices() == Resamples::kLeastSlices);
  CHECK(with_spread(10, Resamples(trace).spread(rate)).has_interval());
  const auto nothing = [](const SliceSums& s) { return s.stage_bytes_read[0]; };
  CHECK(Resamples(trace).spread(nothing).empty());
}

}  // namespace
}  // namespace penstock
