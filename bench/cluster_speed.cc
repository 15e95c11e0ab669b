// Measures the cluster simulator: a thousand ops per step, with ten workers of a thousand steps
// each, and with 1024 workers of 20 steps on 64 servers.

#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "cluster/simulator.h"
#include "cluster/throughput.h"

namespace {

using namespace penstock::cluster;

// Layers of down, forward; then up, apply: four ops per layer and some that only compute.
Step make_step(int32_t layers, int32_t servers) {
  Step step;
  int32_t layer = 0;
  const auto add = [&](Resource resource, double amount, std::vector<int32_t> deps) {
    Op op;
    op.resource = resource;
    if (is_transfer(resource)) {
      op.bytes = static_cast<int64_t>(amount);
    } else {
      op.duration_s = amount;
    }
    if (resource != Resource::worker) op.server = layer % servers;
    op.start_s = op.end_s = 1e-3 * static_cast<double>(step.ops.size());
    op.deps = std::move(deps);
    step.ops.push_back(std::move(op));
    return static_cast<int32_t>(step.ops.size()) - 1;
  };
  int32_t last = add(Resource::worker, 1e-3, {});
  for (; layer < layers; ++layer) {
    const int32_t down = add(Resource::downlink, 1e4 + 100 * layer, {});
    last = add(Resource::worker, 1e-3, {last, down});
    const int32_t back = add(Resource::worker, 2e-3, {last});
    const int32_t up = add(Resource::uplink, 1e4 + 100 * layer, {back});
    add(Resource::server, 1e-5, {up});
  }
  return step;
}

struct Measured {
  double seconds = 0, ops = 0, steps_per_s = 0;  // seconds: of CPU, one thread
};

Measured measure(int32_t workers, int32_t servers, int32_t steps) {
  Rig rig;
  rig.server_rate = 1e8;
  set_policy("grpc", &rig);
  const Step step = make_step(200, servers);
  const std::vector<StepPlan> plans{plan_step(step, rig)};
  const std::clock_t begin = std::clock();
  const Outcome outcome = simulate(plans, rig, {workers, servers, steps, 1});
  const double took_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  double ended = 0;
  for (const auto& ends : outcome.step_ends_s) ended += static_cast<double>(ends.size());
  return {took_s, ended * static_cast<double>(step.ops.size()), throughput(outcome, steps / 10)};
}

void print(const char* name, const Measured& m, const char* behind) {
  std::printf("\"%s\": {\"cpu_seconds\": %.3f, \"ops\": %.0f, \"ops_per_s\": %.0f, "
              "\"steps_per_s\": %.3f}%s",
              name, m.seconds, m.ops, m.ops / m.seconds, m.steps_per_s, behind);
}

}  // namespace

int main(int argc, char** argv) {
  const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  std::printf("{");
  print("workers_10_steps_1000", measure(10, 1, tiny ? 10 : 1000), ", ");
  print("workers_1024_servers_64_steps_20", measure(tiny ? 16 : 1024, tiny ? 4 : 64, tiny ? 3 : 20),
        "}\n");
  return 0;
}
