#include "cluster/simulator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "cluster/placement.h"
#include "cluster/throughput.h"

namespace penstock::cluster {
namespace {

Op make_op(Resource resource, double amount, std::vector<int32_t> deps = {}, int32_t order = 0) {
  Op op;
  op.name = "op" + std::to_string(order);
  op.resource = resource;
  (is_transfer(resource) ? void(op.bytes = static_cast<int64_t>(amount))
                         : void(op.duration_s = amount));
  op.start_s = op.end_s = order;
  op.deps = std::move(deps);
  return op;
}

// Down, compute, up, apply: nothing overlaps in a worker's step.
Step chain(double down, double compute_s, double up, double apply_s = 0) {
  return {{make_op(Resource::downlink, down), make_op(Resource::worker, compute_s, {0}),
           make_op(Resource::uplink, up, {1}), make_op(Resource::server, apply_s, {2})}};
}

Rig plain_rig(double rate) {
  Rig rig;
  rig.server_rate = rate;
  rig.sharing = Sharing::equal;
  rig.stagger_s = 0;
  return rig;
}

Outcome simulate_step(const Step& step, const Rig& rig, int32_t workers, int32_t steps = 50) {
  return simulate({plan_step(step, rig)}, rig, Run{workers, 1, steps, 3});
}

TEST_CASE("simulator: one worker's step is the sum of its chain") {
  const Outcome o = simulate_step(chain(1000, 2, 500, 0.25), plain_rig(1000), 1);
  CHECK(throughput(o, 5) == doctest::Approx(1 / (1 + 2 + 0.5 + 0.25)));
}

TEST_CASE("simulator: workers that start together stay in lock-step under equal shares") {
  const Outcome o = simulate_step(chain(1000, 3, 0), plain_rig(1000), 2);
  CHECK(throughput(o, 5) == doctest::Approx(2 / (2 + 3.0)));
}

TEST_CASE("simulator: first come, first served makes two workers take turns") {
  Rig rig = plain_rig(1000);
  rig.sharing = Sharing::tcp;
  rig.newcomer = 0;
  const Outcome o = simulate_step(chain(1000, 1, 0), rig, 2);
  CHECK(throughput(o, 5) == doctest::Approx(1.0));  // the link never rests
}

TEST_CASE("simulator: lock-step of eight, and bytes are conserved") {
  const Outcome o = simulate_step(chain(1000, 1, 400), plain_rig(1000), 8);
  CHECK(throughput(o, 5) == doctest::Approx(8 / (8 + 1 + 8 * 0.4)));
  double started = 0, ended = 0;
  for (const auto& ends : o.step_ends_s) ended += static_cast<double>(ends.size());
  started = ended + 8;
  CHECK(o.link_bytes[0] >= 1000 * ended - 1e-6);
  CHECK(o.link_bytes[0] <= 1000 * started + 1e-6);
  CHECK(o.link_bytes[0] <= 1000 * o.end_s * (1 + 1e-9));
}

// Arrival and departure of a worker at a station of the chain: downlink, lane, uplink, server.
struct Stay {
  size_t station;
  double from_s, to_s;
};

std::vector<Stay> stays_of(const Outcome& o, int32_t workers, double begin_s) {
  std::vector<Stay> out;
  std::vector<double> left_s(static_cast<size_t>(workers), -1);  // of the last station
  for (const Span& s : o.spans) {                                // by their ends
    double& last_s = left_s[static_cast<size_t>(s.worker)];
    const size_t station = s.kind == PlannedOp::Kind::transfer ? (s.place == 0 ? 0u : 2u)
                           : s.kind == PlannedOp::Kind::worker ? 1u
                                                               : 3u;
    if (last_s >= begin_s) out.push_back({station, last_s, s.end_s});
    last_s = s.end_s;
  }
  return out;
}

TEST_CASE("simulator: Little's law on every queue") {
  constexpr int32_t kWorkers = 4;
  constexpr double kBegin_s = 50;
  constexpr int kSamples = 8000;
  Rig rig = plain_rig(1000);
  rig.stagger_s = 0.3;
  rig.server_cores = 1;
  Run run{kWorkers, 1, 600, 3};
  run.record = true;
  RandomStream random(9, 0, 4);
  std::vector<StepPlan> plans;
  for (int i = 0; i < 50; ++i) {
    const double size = 200 + 800 * random.next_double();
    plans.push_back(plan_step(chain(size, 1.3 * random.next_double(), size / 2, 0.3), rig));
  }
  const Outcome o = simulate(plans, rig, run);
  const std::vector<Stay> stays = stays_of(o, kWorkers, kBegin_s);
  double end_s = o.end_s;
  for (const auto& ends : o.step_ends_s) end_s = std::min(end_s, ends.back());
  // L as seen at random times, W as the mean of the stays, lambda as the throughput.
  double seen[4] = {}, stay_s[4] = {}, count[4] = {}, all = 0;
  for (const Stay& s : stays) {
    if (s.to_s > end_s) continue;
    stay_s[s.station] += s.to_s - s.from_s;
    count[s.station] += 1;
  }
  for (int k = 0; k < kSamples; ++k) {
    const double at_s = kBegin_s + 5 + (end_s - kBegin_s - 10) * random.next_double();
    for (const Stay& s : stays)
      if (s.from_s <= at_s && at_s < s.to_s) seen[s.station] += 1.0 / kSamples;
  }
  const double rate = throughput(o, 40);
  for (size_t station = 0; station < 4; ++station) {
    CAPTURE(station);
    CHECK(seen[station] == doctest::Approx(rate * stay_s[station] / count[station]).epsilon(0.05));
    all += seen[station];
  }
  CHECK(all ==
        doctest::Approx(kWorkers).epsilon(1e-6));  // each worker is at one station at any time
}

TEST_CASE("simulator: more servers are never slower where links are shared max-min") {
  Profile profile;
  profile.source = "test";
  Step step;
  for (int i = 0; i < 8; ++i) {
    append(&step, "variable" + std::to_string(i), Resource::server, 0, 0, {});
    append(&step, "read" + std::to_string(i), Resource::downlink, 400, 0, {2 * i});
  }
  append(&step, "train", Resource::worker, 0, 1, {1, 3, 5, 7, 9, 11, 13, 15});
  profile.steps = {step};
  Rig rig = plain_rig(1000);
  rig.sharing = Sharing::max_min;
  double before = 0;
  for (const int32_t servers : {1, 2, 4, 8}) {
    const Profile placed = place(profile, servers, Placement::greedy);
    const Outcome o = simulate({plan_step(placed.steps[0], rig)}, rig, Run{6, servers, 80, 3});
    const double now = throughput(o, 20);
    CHECK(now >= before * (1 - 1e-9));
    before = now;
  }
  CHECK(before == doctest::Approx(6 / (6 * 0.4 + 1)));
}

TEST_CASE("simulator: shared server cores wait like M/D/1") {
  // Sixty workers with exponential computing make nearly Poisson arrivals at one core.
  constexpr double kThink_s = 1, kServe_s = 0.01;
  constexpr int32_t kWorkers = 60;
  RandomStream random(11, 0, 2);
  Rig rig = plain_rig(1e9);
  rig.server_cores = 1;
  std::vector<StepPlan> plans;
  for (int i = 0; i < 2000; ++i) {
    const double think_s = -kThink_s * std::log(1 - random.next_double());
    plans.push_back(plan_step(chain(1, think_s, 1, kServe_s), rig));
  }
  double mean_s = 0;
  for (const StepPlan& p : plans) mean_s += p.worker_s / static_cast<double>(plans.size());
  const double rate = throughput(simulate(plans, rig, Run{kWorkers, 1, 1500, 5}), 50);
  const double load = rate * kServe_s;
  const double residence_s = kWorkers / rate - mean_s;
  const double predicted_s = kServe_s * (1 + load / (2 * (1 - load)));
  CHECK(load > 0.5);
  CHECK(residence_s == doctest::Approx(predicted_s).epsilon(0.15));
}

TEST_CASE("simulator: private cores do not wait") {
  Rig rig = plain_rig(1e9);
  CHECK(throughput(simulate_step(chain(1, 1, 1, 1), rig, 4), 5) == doctest::Approx(2));
  rig.server_cores = 1;
  CHECK(throughput(simulate_step(chain(1, 1, 1, 1), rig, 4), 5) == doctest::Approx(1));
}

TEST_CASE("simulator: the paper's windows let a small transfer pass a large one once") {
  const Step step{{make_op(Resource::downlink, 1000, {}, 1),
                   make_op(Resource::downlink, 100, {}, 2), make_op(Resource::worker, 100, {1})}};
  Rig rig = plain_rig(100);
  CHECK(simulate_step(step, rig, 1, 1).end_s == doctest::Approx(111));
  rig.scheduler = {200, 0};
  CHECK(simulate_step(step, rig, 1, 1).end_s == doctest::Approx(103));
  rig.scheduler = {50, 50};
  CHECK(simulate_step(step, rig, 1, 1).end_s == doctest::Approx(102));
}

TEST_CASE("simulator: lanes let ops of a worker run at once") {
  const Step step{{make_op(Resource::worker, 1), make_op(Resource::worker, 1)}};
  Rig rig = plain_rig(1);
  CHECK(simulate_step(step, rig, 1, 1).end_s == doctest::Approx(2));
  rig.worker_lanes = 2;
  CHECK(simulate_step(step, rig, 1, 1).end_s == doctest::Approx(1));
}

TEST_CASE("simulator: more bandwidth is never slower, and a seed always gives the same") {
  double before = 0;
  for (const double rate : {200.0, 400.0, 800.0, 1600.0, 1e6}) {
    const Outcome o = simulate_step(chain(500, 1, 300, 0.1), plain_rig(rate), 4, 100);
    const double now = throughput(o, 20);
    CHECK(now >= before * (1 - 1e-9));
    before = now;
  }
  Rig rig = plain_rig(700);
  rig.sharing = Sharing::tcp;
  rig.share_spread = 0.7;
  rig.stagger_s = 0.2;
  const auto ends = [&](uint64_t seed) {
    return simulate({plan_step(chain(500, 1, 300), rig)}, rig, Run{4, 1, 60, seed}).step_ends_s;
  };
  CHECK(ends(1) == ends(1));
  CHECK(ends(1) != ends(2));
}

// Returns the mean time that a step of worker 1 lasts beyond 1 s. Worker 0 uploads `burst` bytes to
// server 0 again and again; worker 1 downloads a byte from `server` and computes for a second.
double request_wait_s(const Rig& rig, double burst, int32_t server) {
  const Step sender{{make_op(Resource::uplink, burst)}};
  Step fetcher{{make_op(Resource::downlink, 1), make_op(Resource::worker, 1, {0})}};
  fetcher.ops[0].server = server;
  const Outcome o = simulate_kinds({{plan_step(sender, rig)}, {plan_step(fetcher, rig)}}, rig,
                                   Run{2, 2, 2000, 7});
  const std::vector<double>& ends = o.step_ends_s[1];
  return (ends.back() - ends[0]) / static_cast<double>(ends.size() - 1) - 1 - 1 / rig.server_rate;
}

TEST_CASE("simulator: a request waits in its server's queue, behind no more than others send") {
  Rig rig = plain_rig(1000);
  CHECK(request_wait_s(rig, 1e6, 0) == doctest::Approx(0).epsilon(1e-6));
  rig.queue_bytes = 200;
  CHECK(request_wait_s(rig, 1e6, 0) == doctest::Approx(0.2).epsilon(0.01));
  CHECK(request_wait_s(rig, 1e6, 1) == doctest::Approx(0).epsilon(1e-6));  // another server
  rig.queue_filled = 0.5;
  CHECK(request_wait_s(rig, 1e6, 0) == doctest::Approx(0.1).epsilon(0.01));
  rig.message_wait_s = 0.3;
  CHECK(request_wait_s(rig, 1e6, 0) == doctest::Approx(0.4).epsilon(0.05));
  CHECK(request_wait_s(rig, 1e6, 1) == doctest::Approx(0).epsilon(1e-6));  // nothing on its link
  rig = plain_rig(1000);
  rig.queue_bytes = 1e6;
  CHECK(request_wait_s(rig, 100, 0) == doctest::Approx(0.1).epsilon(0.01));  // the whole burst
}

TEST_CASE("simulator: a request waits for what is in the queue when it comes") {
  Rig rig = plain_rig(1e6);
  rig.sharing = Sharing::queue;
  rig.queue_bytes = 200'000;
  // One window of 100 KB, full all the time except for the segment in service.
  CHECK(request_wait_s(rig, 1e7, 0) == doctest::Approx(0.1).epsilon(0.2));
  CHECK(request_wait_s(rig, 1e7, 1) == doctest::Approx(0).epsilon(1e-6));
  // Bursts of 20 KB one after the other: between no wait and a whole burst.
  CHECK(request_wait_s(rig, 20'000, 0) == doctest::Approx(0.01).epsilon(0.2));
}

TEST_CASE("simulator: a queue takes no longer for terabytes") {
  Rig rig = plain_rig(1e9);
  rig.sharing = Sharing::queue;
  rig.queue_bytes = 3e5;
  const Outcome o = simulate_step(chain(1e13, 2, 1e13), rig, 2, 20);
  CHECK(throughput(o, 4) == doctest::Approx(2 / 2e4).epsilon(0.05));
}

TEST_CASE("simulator: batches of a steady run agree with the whole") {
  const Outcome o = simulate_step(chain(1000, 2, 0), plain_rig(1000), 1, 100);
  const std::vector<double> batches = batch_throughputs(o, 10, 20);
  CHECK(batches.size() == 4);
  for (const double b : batches) CHECK(b == doctest::Approx(throughput(o, 10)));
}

TEST_CASE("simulator: sizes and rates of nothing are refused") {
  const Rig rig = plain_rig(1);
  const std::vector<StepPlan> plans{plan_step(chain(1, 1, 1), rig)};
  CHECK_THROWS_AS(simulate(plans, plain_rig(0), Run{}), Error);
  CHECK_THROWS_AS(simulate(plans, rig, Run{0, 1, 10, 1}), Error);
  CHECK_THROWS_AS(simulate({}, rig, Run{}), Error);
}

}  // namespace
}  // namespace penstock::cluster
