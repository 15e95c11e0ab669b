// How fast the cluster simulator is: a thousand ops a step, ten workers, a thousand steps each.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cluster/simulator.h"

namespace {

using namespace penstock::cluster;

// Layers of down, forward; then up, apply: four ops a layer and some that compute only.
Step make_step(int32_t layers) {
  Step step;
  const auto add = [&](Resource resource, double amount, std::vector<int32_t> deps) {
    Op op;
    op.resource = resource;
    if (is_transfer(resource)) {
      op.bytes = static_cast<int64_t>(amount);
    } else {
      op.duration_s = amount;
    }
    op.start_s = op.end_s = 1e-3 * static_cast<double>(step.ops.size());
    op.deps = std::move(deps);
    step.ops.push_back(std::move(op));
    return static_cast<int32_t>(step.ops.size()) - 1;
  };
  int32_t last = add(Resource::worker, 1e-3, {});
  for (int32_t l = 0; l < layers; ++l) {
    const int32_t down = add(Resource::downlink, 1e4 + 100 * l, {});
    last = add(Resource::worker, 1e-3, {last, down});
    const int32_t back = add(Resource::worker, 2e-3, {last});
    const int32_t up = add(Resource::uplink, 1e4 + 100 * l, {back});
    add(Resource::server, 1e-5, {up});
  }
  return step;
}

}  // namespace

int main(int argc, char** argv) {
  const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  Rig rig;
  rig.server_rate = 1e8;
  set_policy("grpc", &rig);
  const Step step = make_step(200);
  const std::vector<StepPlan> plans{plan_step(step, rig)};
  Run run{10, 1, tiny ? 10 : 1000, 1};
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = simulate(plans, rig, run);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  double steps = 0;
  for (const auto& ends : outcome.step_ends_s) steps += static_cast<double>(ends.size());
  const double ops = steps * static_cast<double>(step.ops.size());
  std::printf("{\"seconds\": %.3f, \"ops\": %.0f, \"ops_per_s\": %.0f, \"steps_per_s\": %.3f}\n",
              took.count(), ops, ops / took.count(), throughput(outcome, run.steps / 10));
  return 0;
}
