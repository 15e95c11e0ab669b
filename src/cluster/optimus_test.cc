#include "cluster/optimus.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace penstock::cluster {
namespace {

std::vector<MeasuredRun> runs_of(const OptimusFit& t, const std::vector<int32_t>& workers,
                                 const std::vector<int32_t>& servers) {
  std::vector<MeasuredRun> out;
  for (const int32_t w : workers) {
    for (const int32_t m : servers)
      out.push_back({w, m, w / (t[0] + t[1] * w / m + t[2] * w + t[3] * m)});
  }
  return out;
}

TEST_CASE("optimus: the terms that made the runs are found") {
  const OptimusFit made{0.2, 0.05, 0.01, 0.03};
  const OptimusFit found = fit_optimus(runs_of(made, {1, 2, 4, 8}, {1, 2, 3}));
  for (size_t i = 0; i < made.size(); ++i) CHECK(found[i] == doctest::Approx(made[i]));
}

TEST_CASE("optimus: terms are never negative, and few runs give few of them") {
  const OptimusFit found = fit_optimus(runs_of({0.2, 0.05, 0, 0}, {1, 2}, {1}));
  Question q;
  q.workers = {1, 2, 4};
  const std::vector<Point> points = optimus_points(found, 1, q);
  CHECK(points[2].steps_per_s == doctest::Approx(4 / 0.4));
  // A step that gets shorter with more workers cannot be expressed by non-negative terms.
  for (const double t : fit_optimus({{1, 1, 1}, {2, 1, 3}, {4, 1, 9}})) CHECK(t >= 0);
  CHECK_THROWS_AS(fit_optimus({{2, 1, 1}, {2, 1, 1.1}}), Error);
}

TEST_CASE("optimus: runs as the rig writes them") {
  const auto runs = read_runs("f", R"([{"workers": 2, "servers": 3, "steps_per_s": 1.5, "x": 1},
                                       {"workers": 1, "steps_per_s": 1}])");
  CHECK(runs[0].servers == 3);
  CHECK(runs[1].servers == 1);
  CHECK_THROWS_AS(read_runs("f", R"([{"workers": 0, "steps_per_s": 1}])"), Error);
  CHECK_THROWS_AS(read_runs("f", R"([{"workers": "2", "steps_per_s": 1}])"), Error);
  CHECK_THROWS_AS(read_runs("f", R"({"workers": 2})"), Error);
  CHECK_THROWS_AS(read_runs("f", "["), Error);
}

}  // namespace
}  // namespace penstock::cluster
