// How many cores each stage gets, and how fast the pipeline can be then.
#pragma once

#include <span>
#include <vector>

namespace penstock {

// R_i: root elements per second that one core gives at this stage; infinite when it costs nothing.
struct StageDemand {
  double rate_per_core = 0;
  bool sequential = false;  // one core at most
};

struct Allocation {
  double rate = 0;            // X, root elements per second; infinite when nothing costs anything
  std::vector<double> cores;  // theta_i
  int binding = -1;           // the sequential stage that holds it, -1: the cores
  double core_price = 0;      // what one more core would add to the rate
};

// max X with theta_i R_i >= X, sum theta_i <= cores, theta_i <= 1 where sequential. A stage of rate
// 0 makes the rate 0. REQUIRES cores > 0.
Allocation allocate_cores(std::span<const StageDemand> stages, double cores);

// The same in closed form: min(cores / sum of 1/R_i, least sequential R_i).
double allocation_rate(std::span<const StageDemand> stages, double cores);

}  // namespace penstock
