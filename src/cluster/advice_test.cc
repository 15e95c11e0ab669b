#include "cluster/advice.h"

#include <doctest/doctest.h>

namespace penstock::cluster {
namespace {

// Points with 1, 2, 3, ... workers at these speeds, each with an interval of this half width.
std::vector<Point> curve(const std::vector<double>& speeds, double half_width) {
  std::vector<Point> out;
  for (const double speed : speeds) {
    Point& p = out.emplace_back();
    p.workers = static_cast<int32_t>(out.size());
    p.steps_per_s = speed;
    p.low = speed * (1 - half_width);
    p.high = speed * (1 + half_width);
    p.binds = "downlink";
  }
  return out;
}

Saturation saturation(const std::vector<double>& speeds, double half_width) {
  return advise(curve(speeds, half_width), std::nullopt, 0).saturation.at(0);
}

}  // namespace

TEST_CASE("a curve saturates at the first worker that brings little, as all later ones do") {
  const Saturation s = saturation({1, 2, 2.9, 3, 3.05, 3.06}, 0);
  CHECK(s.workers == 4);
  CHECK(s.gain == doctest::Approx(3 / 2.9 - 1));
  CHECK(s.fewest == 4);
  CHECK(s.most == 4);
  CHECK(s.dip == 0);
  CHECK(saturation({1, 2, 3, 4}, 0).workers == 0);
}

TEST_CASE("a curve that dips and rises again is not saturated in the dip") {
  const Saturation s = saturation({10, 10.2, 13, 16, 19}, 0);
  CHECK(s.workers == 0);
  CHECK(s.dip == 2);
  CHECK(s.dip_gain == doctest::Approx(0.02));
  // A drop that nothing makes up for is the end, although the last size is faster than the one
  // before it.
  CHECK(saturation({10, 6, 7, 7.5}, 0).workers == 2);
}

TEST_CASE("a small bump on a plateau does not end it") {
  CHECK(saturation({3.5, 6.85, 6.81, 7.2, 7.25, 7.36}, 0).workers == 3);
}

TEST_CASE("the size at which a curve saturates has an interval") {
  // Gains of 100, 40, 8, 2 and 0 %, each known to 0.4 times 2 times 8 %.
  const Saturation s = saturation({1, 2, 2.8, 3.02, 3.08, 3.08}, 0.08);
  CHECK(s.workers == 5);
  CHECK(s.fewest == 4);
  CHECK(s.most == 0);
  const Saturation narrow = saturation({1, 2, 2.8, 3.02, 3.08, 3.08}, 0.01);
  CHECK(narrow.fewest == 5);
  CHECK(narrow.most == 5);
}

}  // namespace penstock::cluster
