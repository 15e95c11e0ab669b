#include "cluster/calibrate.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace penstock::cluster {
namespace {

Pattern flows(const std::vector<Pattern::Flow>& all) { return {all}; }

TEST_CASE("calibrate: alpha-fair shares in closed form") {
  // Flow 0 crosses server 0 and worker 0, which one other flow uses each: proportional sharing
  // gives it 1/3, max-min one half.
  const Pattern p = flows({{0, 0, 1}, {0, 1, 1}, {1, 0, 1}});
  const std::vector<double> proportional = alpha_fair(p, 300, 1);
  CHECK(proportional[0] == doctest::Approx(100).epsilon(0.01));
  CHECK(proportional[1] == doctest::Approx(200).epsilon(0.01));
  CHECK(alpha_fair(p, 300, 10)[0] == doctest::Approx(150).epsilon(0.1));
  CHECK(alpha_fair(flows({{0, 0, 1}, {0, 1, 1}}), 300, 0.5)[1] ==
        doctest::Approx(150).epsilon(0.01));
}

TEST_CASE("calibrate: the exponent that made the rates is found") {
  Pattern p = flows({{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {1, 2, 1}});
  const std::vector<double> rates = alpha_fair(p, 1000, 2);
  for (size_t i = 0; i < rates.size(); ++i) p.flows[i].rate = rates[i];
  const PatternFit fit = fit_pattern(p);
  CHECK(fit.alpha == doctest::Approx(2).epsilon(0.15));
  CHECK(fit.error < 0.03);
  CHECK(fit.determined);
}

TEST_CASE("calibrate: flows that are alike with every exponent determine none") {
  CHECK_FALSE(fit_pattern(flows({{0, 0, 100}})).determined);
  CHECK_FALSE(fit_pattern(flows({{0, 0, 100}, {0, 1, 100}})).determined);
  CHECK(fit_pattern(flows({{0, 0, 50}, {0, 1, 100}, {1, 0, 100}})).determined);
}

Profile transfers() {
  Profile p;
  p.steps.resize(1);
  double at_s = 0;
  for (const double bytes : {1000.0, 2000.0, 4000.0}) {
    Op op;
    op.name = "t";
    op.resource = Resource::downlink;
    op.bytes = static_cast<int64_t>(bytes);
    op.start_s = at_s;
    op.end_s = at_s + bytes / 1000 + 0.25 + 1e-4 * bytes;
    at_s = op.end_s + 1;
    p.steps[0].ops.push_back(op);
  }
  return p;
}

TEST_CASE("calibrate: overhead alpha size + beta of transfers that are alone") {
  const OverheadFit fit = fit_overhead(transfers(), 1000);
  CHECK(fit.transfers == 3);
  CHECK(fit.seconds == doctest::Approx(0.25));
  CHECK(fit.seconds_per_byte == doctest::Approx(1e-4));
  CHECK(fit_overhead(Profile{}, 1000).transfers == 0);
}

TEST_CASE("calibrate: a profile without anything to fit is refused") {
  Profile p = transfers();
  check_fits(p);
  for (Op& op : p.steps[0].ops) op.end_s = -1;
  CHECK_THROWS_WITH_AS(check_fits(p),
                       "calibrate: : no transfer with a recorded end: there is nothing to fit",
                       Error);
  p = transfers();
  p.steps[0].ops[0].resource = Resource::all_reduce;
  CHECK_THROWS_AS(check_fits(p), Error);
}

TEST_CASE("calibrate: end times of a step that is replayed exactly") {
  Profile p = transfers();
  double at_s = 0;
  for (Op& op : p.steps[0].ops) op.end_s = at_s += static_cast<double>(op.bytes) / 1000;
  Rig rig;
  rig.server_rate = 1000;
  rig.sharing = Sharing::equal;
  const EndTimeError error = end_time_error(p, rig);
  CHECK(error.transfers == 3);
  CHECK(error.most < 1e-9);
  CHECK(fit_window(p, rig).rig.scheduler.first_bytes == 0);
  CHECK_FALSE(fit_window(p, rig).found);
  CHECK(fit_window(p, rig).rig.burst_bytes == 0);
  CHECK(fit_step_gap(p, rig) < 1e-9);
  for (Step& s : p.steps) s.ops.back().end_s += 0.5;
  CHECK(fit_step_gap(p, rig) == doctest::Approx(0.5));
}

TEST_CASE("calibrate: a burst at the start of a step is found") {
  Profile p = transfers();
  double bytes = -65536;
  for (Op& op : p.steps[0].ops) {
    op.bytes *= 100;
    bytes += static_cast<double>(op.bytes);
    op.end_s = bytes / 1e6;
  }
  Rig rig;
  rig.server_rate = 1e6;
  rig.sharing = Sharing::equal;
  CHECK(fit_window(p, rig).rig.burst_bytes == 65536);
}

TEST_CASE("calibrate: patterns that make no sense are refused") {
  for (const char* text : {"", "[]", "{}", R"({"flows":[]})", R"({"flows":[{"server":0}]})",
                           R"({"flows":[{"server":0,"worker":0,"rate":5}]})",
                           R"({"flows":[{"server":0.5,"worker":0,"rate":"5Mbit"}]})"})
    CHECK_THROWS_AS(read_pattern("p", text), Error);
}

}  // namespace
}  // namespace penstock::cluster
