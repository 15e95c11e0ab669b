// Speed of the workers in a simulated run.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/simulator.h"

namespace penstock::cluster {

// Returns steps/s of all workers together (with a barrier: common steps), between the end of step
// `first` of the last worker to begin and the end of the first worker to finish; 0 if no worker
// ends two steps in that time.
double throughput(const Outcome& outcome, int32_t first);
// Returns the same over windows of `length` steps of worker 0, starting at its step `first`.
std::vector<double> batch_throughputs(const Outcome& outcome, int32_t first, int32_t length);

}  // namespace penstock::cluster
