// Division of the cores between stages, and the rate that the pipeline reaches with it.
#pragma once

#include <span>
#include <vector>

namespace penstock {

// R_i: root elements per second that one core gives at this stage; infinite if the stage costs
// nothing.
struct StageDemand {
  double rate_per_core = 0;
  bool sequential = false;  // one core at most
};

struct Allocation {
  double rate = 0;            // X, root elements per second; infinite if no stage costs anything
  std::vector<double> cores;  // theta_i
  int binding = -1;           // the sequential stage that limits the rate; -1: the cores do
  double core_price = 0;      // gain in rate from one more core
};

// Maximises X with theta_i R_i >= X, sum theta_i <= cores, and theta_i <= 1 for sequential stages.
// A stage of rate 0 makes the rate 0. REQUIRES cores > 0.
Allocation allocate_cores(std::span<const StageDemand> stages, double cores);

// Returns the same rate in closed form: min(cores / sum of 1/R_i, least sequential R_i).
double allocation_rate(std::span<const StageDemand> stages, double cores);

}  // namespace penstock
