// Discrete-event simulation of asynchronous training: W workers, each running sampled steps.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/rig.h"
#include "cluster/step_plan.h"

namespace penstock::cluster {

struct Run {
  int32_t workers = 1;
  int32_t servers = 1;
  int32_t steps = 200;  // each worker runs at least as many
  uint64_t seed = 1;
};

struct Outcome {
  std::vector<std::vector<double>> step_ends_s;  // by worker
  double end_s = 0;
  std::vector<double> link_bytes;   // by link (network.h), over the whole run
  std::vector<double> link_busy_s;  // time with a flow on it
  std::vector<double> server_s;     // computing done by each server
  double worker_s = 0;              // computing done by all workers together
};

// Simulates until every worker has ended run.steps steps. `plans` holds the profiled steps; each
// worker draws from them with replacement. The outcome depends on the arguments alone.
// Throws INVALID_ARGUMENT for a rig without rate and for sizes below 1.
Outcome simulate(const std::vector<StepPlan>& plans, const Rig& rig, const Run& run);

// Steps/s of all workers together between the end of step `first` of the slowest to begin and the
// end of the first worker to finish; 0 when no worker ends two steps there.
double throughput(const Outcome& outcome, int32_t first);
// The same over windows of `length` steps of worker 0, from its step `first` on.
std::vector<double> batch_throughputs(const Outcome& outcome, int32_t first, int32_t length);

}  // namespace penstock::cluster
