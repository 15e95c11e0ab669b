// Throughput as a function of the rates of links: for every policy it is continuous, it never falls
// when a link gets faster, and it rises at most as much as the link.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cluster/rig.h"
#include "cluster/simulator.h"
#include "cluster/throughput.h"

namespace penstock::cluster {
namespace {

Op make_op(Resource resource, int32_t server, double amount, std::vector<int32_t> deps) {
  Op op;
  op.resource = resource;
  op.server = server;
  (is_transfer(resource) ? void(op.bytes = static_cast<int64_t>(amount))
                         : void(op.duration_s = amount));
  op.deps = std::move(deps);
  return op;
}

// Variables of two servers come down, the worker computes, gradients go up to both.
Step step_of_two_servers(double down, double compute_s, double up) {
  return {{make_op(Resource::downlink, 0, down, {}), make_op(Resource::downlink, 1, down, {}),
           make_op(Resource::worker, 0, compute_s, {0, 1}), make_op(Resource::uplink, 0, up, {2}),
           make_op(Resource::uplink, 1, up, {2})}};
}

double steps_per_s(std::string_view policy, double server_rate, double worker_rate,
                   int32_t workers) {
  Rig rig;
  rig.server_rate = server_rate;
  rig.worker_rate = worker_rate;
  set_policy(policy, &rig);
  const Step step = step_of_two_servers(4e6, 0.1, 2e6);
  const Outcome o = simulate({plan_step(step, rig)}, rig, Run{workers, 2, 24, 3});
  return throughput(o, 4);
}

void check_near(double before, double now, double growth, double tolerance) {
  CHECK(now >= before * (1 - tolerance));
  CHECK(now <= before * growth * (1 + tolerance));
}

TEST_CASE("rates: one worker is never slower with a faster link, and gains at most as much") {
  for (const std::string_view policy : kPolicies) {
    INFO("policy ", std::string(policy));
    for (const bool own : {true, false}) {
      double before = 0;
      for (double share = 0.25; share < 3; share *= 1.06) {
        const double now = own ? steps_per_s(policy, 1e7, 1e7 * share, 1)
                               : steps_per_s(policy, 1e7 * share, 1e7, 1);
        INFO("rate ", share);
        if (before > 0) check_near(before, now, 1.06, 0.01);
        before = now;
      }
    }
  }
}

TEST_CASE("rates: no jump where workers' links begin to limit") {
  for (const std::string_view policy : kPolicies) {
    INFO("policy ", std::string(policy));
    for (const int32_t workers : {1, 2, 4}) {
      INFO("workers ", workers);
      const double none = steps_per_s(policy, 1e7, 0, workers);
      CHECK(steps_per_s(policy, 1e7, 1e9, workers) == doctest::Approx(none).epsilon(0.01));
      const double over = steps_per_s(policy, 1e7, 2.002e7, workers);
      CHECK(steps_per_s(policy, 1e7, 1.998e7, workers) == doctest::Approx(over).epsilon(0.01));
      CHECK(over == doctest::Approx(none).epsilon(0.05));
    }
  }
}

TEST_CASE("rates: full links carry what they can, under every policy") {
  for (const std::string_view policy : kPolicies) {
    INFO("policy ", std::string(policy));
    for (const double own : {4e6, 9e6, 1e7, 1.1e7, 1.9e7, 0.0}) {
      INFO("worker rate ", own);
      const double alone = steps_per_s(policy, 1e7, own, 1),
                   four = steps_per_s(policy, 1e7, own, 4);
      if (own > 0) CHECK(alone <= own / 8e6 * (1 + 1e-6));
      CHECK(four <= 1e7 / 4e6 * (1 + 1e-6));
      CHECK(four >= 0.65 * std::min(4 * alone, 1e7 / 4e6));
    }
  }
}

}  // namespace
}  // namespace penstock::cluster
