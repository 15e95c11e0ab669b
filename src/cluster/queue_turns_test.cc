#include "cluster/queue_turns.h"

#include <doctest/doctest.h>

#include <deque>

#include "base/random.h"

namespace penstock::cluster {
namespace {

Flow flow(int32_t worker, double left, double window) {
  return {worker, left, 0, 1, window, window};
}

TEST_CASE("queue: who comes first is served first, a whole burst within its window") {
  std::vector<Flow> flows{flow(0, 80, 100), flow(1, 50, 100)};
  CHECK(first_done(flows).flow == 0);
  CHECK(first_done(flows).bytes == doctest::Approx(80));
  flows[0].left = 1000;
  CHECK(first_done(flows).flow == 1);
  CHECK(first_done(flows).bytes == doctest::Approx(150));
  serve_turns(150, &flows);
  CHECK(flows[0].worker == 1);
  CHECK(flows[0].left == doctest::Approx(0));
  CHECK(flows[1].left == doctest::Approx(900));
}

TEST_CASE("queue: long transfers share by their windows") {
  std::vector<Flow> flows{flow(0, 1e6, 300), flow(1, 1e6, 100)};
  serve_turns(1e6, &flows);
  const double first = flows[0].worker == 0 ? flows[0].left : flows[1].left;
  CHECK(first == doctest::Approx(1e6 - 750'000));
}

// Byte by byte, as a queue is.
struct Bytewise {
  std::deque<Flow> flows;
  int64_t served = 0;
  int32_t run() {
    for (;;) {
      Flow& f = flows.front();
      if (f.turn < 0.5) {
        f.turn = f.window;
        flows.push_back(f);
        flows.pop_front();
        continue;
      }
      --f.turn, --f.left, ++served;
      if (f.left < 0.5) return f.worker;
    }
  }
};

TEST_CASE("queue: the first to be done and what is left of all, byte by byte") {
  RandomStream random(5, 0, 1);
  for (int k = 0; k < 300; ++k) {
    CAPTURE(k);
    std::vector<Flow> flows;
    const auto n = static_cast<int32_t>(1 + random.next_below(5));
    for (int32_t w = 0; w < n; ++w) {
      flows.push_back(flow(w, static_cast<double>(1 + random.next_below(900)),
                           static_cast<double>(1 + random.next_below(60))));
    }
    flows[0].turn =
        static_cast<double>(random.next_below(static_cast<uint64_t>(flows[0].window) + 1));
    Bytewise slow{{flows.begin(), flows.end()}};
    if (n == 1) slow.flows[0].turn = slow.flows[0].left;
    const int32_t worker = slow.run();
    const FirstDone first = first_done(flows);
    CHECK(flows[first.flow].worker == worker);
    CHECK(first.bytes == doctest::Approx(static_cast<double>(slow.served)));
    const double part = static_cast<double>(random.next_below(static_cast<uint64_t>(slow.served)));
    serve_turns(part, &flows);
    CHECK(flows[first_done(flows).flow].worker == worker);
    CHECK(first_done(flows).bytes == doctest::Approx(first.bytes - part));
    serve_turns(first.bytes - part, &flows);
    for (const Flow& f : slow.flows) {
      for (const Flow& g : flows) {
        if (g.worker == f.worker) CHECK(g.left == doctest::Approx(f.left));
      }
    }
  }
}

}  // namespace
}  // namespace penstock::cluster
