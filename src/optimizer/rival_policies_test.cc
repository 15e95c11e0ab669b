#include "optimizer/rival_policies.h"

#include <doctest/doctest.h>

#include "optimizer/simulated_pipeline.h"

namespace penstock {
namespace {

SimulatedPipeline two_maps(int cores) {
  SimulatedPipeline p;
  p.cores = cores;
  p.stages.resize(3);
  p.stages[0].cpu_seconds = 4e-3;
  p.stages[1].cpu_seconds = 1e-3;
  p.stages[2].cpu_seconds = 1e-5;
  p.stages[0].has_calls = p.stages[1].has_calls = true;
  return p;
}

TEST_CASE("rival policies: each reaches what it is known for, within the cores") {
  const SimulatedPipeline p = two_maps(4);
  const double best = exhaustive_rate(p, 3);
  const auto heuristic = heuristic_policy(), local = local_policy(), most = autotune_policy(true),
             climbing = autotune_policy(false);
  for (TunerPolicy* policy : {heuristic.get(), local.get(), most.get(), climbing.get()}) {
    const SimulatedRun run = simulate(p, policy, 10);
    CHECK(run.rate(5, 10) > 0.9 * best);
    for (const SimulatedStage& s : run.stages) CHECK(s.calls <= 4);
  }
  CHECK(simulate(p, heuristic_policy().get(), 5).stages[1].calls == 4);
  CHECK(simulate(p, autotune_policy(true).get(), 5).stages[1].calls == 4);
}

TEST_CASE("rival policies: tf.data's does not look at the consumer") {
  SimulatedPipeline p = two_maps(8);
  p.consumer = [](double) { return 0.1; };
  CHECK(simulate(p, autotune_policy(true).get(), 10).stages[0].calls == 8);
  CHECK(simulate(p, live_policy().get(), 10).stages[0].calls <= 2);
}

TEST_CASE("rival policies: a random walk comes to more than it began with") {
  const SimulatedPipeline p = two_maps(4);
  const double start = simulate(p, nullptr, 5).rate();
  for (const uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    CHECK(simulate(p, random_walk_policy(seed).get(), 60).rate(50, 60) > 1.5 * start);
  }
}

TEST_CASE("rival policies: fixed calls stay") {
  SimulatedPipeline p = two_maps(4);
  p.stages[0].fixed = p.stages[1].fixed = true;
  for (auto make : {heuristic_policy, local_policy})
    CHECK(simulate(p, make().get(), 5).changes == 0);
  CHECK(simulate(p, random_walk_policy(1).get(), 5).changes == 0);
  CHECK(simulate(p, autotune_policy(true).get(), 5).changes == 0);
}

}  // namespace
}  // namespace penstock
