#include "cluster/feed.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cluster/advice.h"
#include "cluster/predict.h"

namespace penstock::cluster {
namespace {

// Steps/s of a worker whose steps take `step_s`, exponentially distributed or constant.
double rate_of(const Feed& feed, double step_s, bool exponential) {
  constexpr int kSteps = 400'000;
  FeedQueue queue(feed, 7, 0);
  RandomStream random(5, 0, 1);
  double now_s = 0;
  for (int k = 0; k < kSteps; ++k)
    now_s = queue.take(now_s) + (exponential ? -std::log(1 - random.next_double()) : 1) * step_s;
  return kSteps / now_s;
}

TEST_CASE("feed: exponential times on both sides are M/M/1/K, with K the buffer and one in use") {
  for (const double load : {0.5, 1.0, 2.0}) {  // the pipeline's rate over the worker's
    for (const int32_t buffer : {1, 2, 5}) {
      const int k = buffer + 1;
      const double blocked =
          load == 1 ? 1.0 / (k + 1) : (1 - load) * std::pow(load, k) / (1 - std::pow(load, k + 1));
      INFO("load ", load, " buffer ", buffer);
      CHECK(rate_of({load, 1, buffer}, 1, true) ==
            doctest::Approx(load * (1 - blocked)).epsilon(0.01));
    }
  }
}

TEST_CASE("feed: with one element ahead a step takes the longer of both times") {
  for (const double make_s : {0.3, 1.0, 3.0}) {
    INFO("element ", make_s);
    const double expected = 1 / (1 + make_s * std::exp(-1 / make_s));
    CHECK(rate_of({1 / make_s, 1, 1}, 1, false) == doctest::Approx(expected).epsilon(0.01));
    CHECK(rate_of({1, 0, 1}, make_s, true) ==  // D/M: the worker's time varies
          doctest::Approx(1 / (1 + make_s * std::exp(-1 / make_s))).epsilon(0.01));
    CHECK(rate_of({1 / make_s, 0, 1}, 1, false) ==
          doctest::Approx(1 / std::max(1.0, make_s)).epsilon(1e-4));
    CHECK(rate_of({1 / make_s, 0, 0}, 1, false) == doctest::Approx(1 / (1 + make_s)));
  }
}

TEST_CASE("feed: times have the spread that they should have") {
  for (const double spread : {0.2, 0.7, 1.0, 2.5}) {
    FeedQueue queue({1, spread, 0}, 3, 0);
    double sum = 0, squares = 0, before_s = 0;
    constexpr int kCount = 200'000;
    for (int k = 0; k < kCount; ++k) {
      const double now_s = queue.take(before_s), gap_s = now_s - before_s;
      sum += gap_s;
      squares += gap_s * gap_s;
      before_s = now_s;
    }
    const double mean = sum / kCount;
    CHECK(mean == doctest::Approx(1).epsilon(0.03));
    CHECK(std::sqrt(squares / kCount - mean * mean) == doctest::Approx(spread).epsilon(0.05));
  }
}

Profile one_op(double seconds, Resource resource = Resource::worker) {
  Op op;
  op.resource = Resource::worker;
  op.duration_s = seconds;
  Profile p;
  p.steps = {{{op}}};
  if (resource == Resource::all_reduce) {
    Op join;
    join.resource = resource;
    join.bytes = 1;
    join.deps = {0};
    p.steps[0].ops.push_back(join);
  }
  return p;
}

Question fed(const Feed& feed, std::vector<int32_t> workers) {
  Question q;
  q.workers = std::move(workers);
  q.rig.server_rate = 1e12;
  q.rig.sharing = Sharing::equal;
  q.rig.model_error = 0;
  q.steps = 2000;
  q.replications = 8;
  q.feed = feed;
  return q;
}

TEST_CASE("feed: a prediction has the queue's rate, its waits and what it costs") {
  const double make_s = 0.8, waits = std::exp(-1 / make_s);
  const Point p = predict({one_op(1)}, fed({1 / make_s, 1, 1}, {4}))[0];
  CHECK(p.steps_per_s == doctest::Approx(4 / (1 + make_s * waits)).epsilon(0.01));
  CHECK(p.starved == doctest::Approx(waits).epsilon(0.03));
  CHECK(p.unfed_steps_per_s == doctest::Approx(4).epsilon(1e-3));
  CHECK(p.binds == "worker");  // most steps do not wait
  const Point held = predict({one_op(1)}, fed({0.25, 0, 2}, {4}))[0];
  CHECK(held.steps_per_s == doctest::Approx(1).epsilon(1e-3));
  CHECK(held.binds == "feed");
  CHECK(held.high - held.low < 1e-3);  // as sure as the rate that was given
}

TEST_CASE("feed: ranks that join wait for the slowest pipeline") {
  Question q = fed({1, 0.5, 2}, {1, 2, 8});
  q.mode = Mode::all_reduce;
  const auto points = predict({one_op(0.9, Resource::all_reduce)}, q);
  double before = 1 / 0.9;
  for (const Point& p : points) {
    CHECK(p.steps_per_s < before * 0.99);
    CHECK(p.unfed_steps_per_s == doctest::Approx(1 / 0.9).epsilon(0.01));
    before = p.steps_per_s;
  }
}

TEST_CASE("feed: the advice names the size that waits most, the remedy, and where it ends") {
  std::vector<Point> points(3);
  for (int32_t w = 1; w <= 3; ++w) {
    Point& p = points[static_cast<size_t>(w - 1)];
    p.workers = w;
    p.steps_per_s = w == 1 ? 2 : 3;
    p.unfed_steps_per_s = 3;
    p.binds = "downlink";
  }
  CHECK(feed_lines(points, {2, 0, 2})[0] ==
        "1 server: with 1 worker input costs 33.3 %, the most: a worker's pipeline must make 3 "
        "elements/s in place of 2; from 2 workers on it costs nothing, and downlink binds");
  CHECK(feed_lines(points, {4, 1, 2})[0] ==
        "1 server: with 1 worker input costs 33.3 %, the most: 4 elements/s suffice on average: a "
        "steadier pipeline or a longer buffer than 2 would help, a faster one less; from 2 workers "
        "on it costs nothing, and downlink binds");
  points[0].steps_per_s = 3;
  CHECK(feed_lines(points, {9, 0, 2})[0] ==
        "1 server: input costs no size more than 1 %: faster input brings nothing");
}

}  // namespace
}  // namespace penstock::cluster
