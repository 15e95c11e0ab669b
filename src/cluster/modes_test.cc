// Modes of training, what feeds it, kinds of workers, what-ifs and advice: closed forms.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "cluster/advice.h"
#include "cluster/predict.h"
#include "cluster/profile_json.h"
#include "cluster/timeline.h"
#include "cluster/what_if.h"

namespace penstock::cluster {
namespace {

// 1000 bytes down, `compute_s`, 500 bytes up.
Profile chain(double compute_s) {
  Profile p;
  p.source = "chain";
  p.examples = 10;
  p.steps.resize(1);
  auto& ops = p.steps[0].ops;
  ops.resize(3);
  ops[0].name = "down";
  ops[0].resource = Resource::downlink;
  ops[0].bytes = 1000;
  ops[1].name = "layer";
  ops[1].resource = Resource::worker;
  ops[1].duration_s = compute_s;
  ops[1].deps = {0};
  ops[2].name = "up";
  ops[2].resource = Resource::uplink;
  ops[2].bytes = 500;
  ops[2].deps = {1};
  return p;
}

Question question(Mode mode, int32_t workers) {
  Question q;
  q.workers = {workers};
  q.mode = mode;
  q.rig.server_rate = 1000;
  q.rig.sharing = Sharing::equal;
  q.rig.stagger_s = 0;
  q.rig.burst_bytes = 0;
  return q;
}

double rate(const std::vector<Profile>& kinds, const Question& q) {
  return predict(kinds, q)[0].steps_per_s;
}

TEST_CASE("modes: workers that meet at a barrier go in lock-step") {
  CHECK(rate({chain(2)}, question(Mode::sync, 1)) == doctest::Approx(1 / 3.5));
  CHECK(rate({chain(2)}, question(Mode::sync, 4)) == doctest::Approx(1 / (4 + 2 + 2.0)));
}

TEST_CASE("modes: backup workers spare the wait for the slow kind") {
  Question q = question(Mode::sync, 2);
  q.rig.server_rate = 1e9;
  CHECK(rate({chain(1), chain(10)}, q) == doctest::Approx(1 / 10.0).epsilon(1e-3));
  q.backups = 1;
  CHECK(rate({chain(1), chain(10)}, q) == doctest::Approx(1).epsilon(0.02));
  q.backups = 2;
  CHECK_THROWS_AS(rate({chain(1)}, q), Error);
}

TEST_CASE("modes: kinds of workers each at their pace") {
  Question q = question(Mode::async, 2);
  q.rig.server_rate = 1e9;
  CHECK(rate({chain(1), chain(4)}, q) == doctest::Approx(1 + 0.25).epsilon(0.02));
  Profile two = chain(1);
  two.servers = 2;
  CHECK_THROWS_AS(rate({chain(1), two}, q), Error);
}

TEST_CASE("modes: ring and tree of a profile with servers") {
  const Profile p = to_all_reduce(chain(2), 1 << 20);
  Question q = question(Mode::all_reduce, 4);
  CHECK(rate({p}, q) == doctest::Approx(1 / (2 + 2 * 0.75 * 0.5)));
  q.tree = true;
  CHECK(rate({p}, q) == doctest::Approx(1 / (2 + 2 * 2 * 0.5)));
  q.mode = Mode::async;
  CHECK_THROWS_AS(rate({p}, q), Error);
}

TEST_CASE("modes: training runs at the lesser of cluster and feed") {
  Question q = question(Mode::async, 3);
  q.rig.server_rate = 1e9;
  q.feed = {0.2};
  const Point fed = predict({chain(1)}, q)[0];
  CHECK(fed.steps_per_s == doctest::Approx(0.6));
  CHECK(fed.binds == "feed");
  q.feed = {5};
  const Point free = predict({chain(1)}, q)[0];
  CHECK(free.steps_per_s == doctest::Approx(3).epsilon(1e-3));
  CHECK(free.feed_use == doctest::Approx(0.2).epsilon(1e-3));
}

TEST_CASE("what_if: each change does what it says, and one that fits nothing fails") {
  CHECK(what_if(chain(2), "faster=lay:4").steps[0].ops[1].duration_s == doctest::Approx(0.5));
  CHECK(what_if(chain(2), "compress=4").steps[0].ops[0].bytes == 250);
  CHECK(what_if(chain(2), "compress=5:up").steps[0].ops[2].bytes == 100);
  CHECK(what_if(chain(2), "compress=5:up").steps[0].ops[0].bytes == 1000);
  CHECK(what_if(chain(2), "remove=down").steps[0].ops[0].resource == Resource::none);
  CHECK(scale_batch(chain(2), 3).steps[0].ops[1].duration_s == doctest::Approx(6));
  CHECK(scale_batch(chain(2), 3).examples == 30);
  for (const char* change : {"faster=x:2", "faster=layer", "faster=layer:0", "compress=-1",
                             "remove=", "remove=x", "smaller=2", "", "servers=2"})
    CHECK_THROWS_AS(what_if(chain(2), change), Error);
}

TEST_CASE("advice: where workers stop paying, the best size, the budget") {
  std::vector<Point> points;
  for (const double r : {1.0, 1.9, 2.5, 2.55, 2.56}) {
    Point p;
    p.workers = static_cast<int32_t>(points.size()) + 1;
    p.steps_per_s = r;
    p.binds = p.workers < 4 ? "worker" : "uplink";
    points.push_back(p);
  }
  Prices prices = read_prices("p", R"({"worker": 2, "server": 1, "currency": "USD"})");
  const Advice found = advise(points, prices, 5);
  CHECK(found.saturation[0].workers == 4);
  CHECK(found.saturation[0].binds == "uplink");
  CHECK(found.best.workers == 4);  // within 1 % of five
  CHECK(found.best_for_budget->workers == 2);
  CHECK(!advise(points, prices, 2.5).best_for_budget);
  CHECK_THROWS_AS(read_prices("p", "[1]"), Error);
  CHECK_THROWS_AS(read_prices("p", R"({"worker": -1})"), Error);
  CHECK_THROWS_AS(read_prices("p", "{"), Error);
}

TEST_CASE("timeline: one event for each transfer and computation of a step") {
  const std::string text = write_timeline({chain(1)}, question(Mode::async, 1), 1);
  size_t events = 0;
  for (size_t at = text.find("\"X\""); at != std::string::npos; at = text.find("\"X\"", at + 1))
    ++events;
  CHECK(events == 5 * 3);
}

TEST_CASE("timeline: of ranks that join, a process each, with its computing and both ways") {
  Op compute, join;
  compute.resource = Resource::worker;
  compute.name = "backward";
  compute.duration_s = 2;
  join.resource = Resource::all_reduce;
  join.name = "bucket";
  join.bytes = 1'000'000;
  join.deps = {0};
  Profile p;
  p.steps.push_back({{compute, join}});
  Question q = question(Mode::all_reduce, 2);
  q.rig.server_rate = 1e6;
  q.rig.burst_bytes = 0;
  const auto json = nlohmann::json::parse(write_timeline({p}, q, 2));
  int computed = 0, joined = 0;
  for (const auto& e : json["traceEvents"]) {
    if (e["ph"] != "X") continue;
    const int step = e["args"]["step"];
    const bool bucket = e["name"] == "bucket";
    ++(bucket ? joined : computed);
    // A step computes for 2 s, then 1 MB crosses a link of 1 MB/s.
    CHECK(e["ts"].get<double>() == doctest::Approx(3e6 * step + (bucket ? 2e6 : 0)));
    CHECK(e["dur"].get<double>() == doctest::Approx(bucket ? 1e6 : 2e6));
    CHECK((e["tid"].get<int>() > 0) == bucket);
  }
  CHECK(computed == 5 * 2);
  CHECK(joined == 5 * 2 * 2);
}

}  // namespace
}  // namespace penstock::cluster
