// What a simulated run says of its workers' speed.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/simulator.h"

namespace penstock::cluster {

// Steps/s of all workers together, with a barrier steps of all, between the end of step `first` of
// the slowest to begin and the end of the first worker to finish; 0 when no worker ends two steps
// there.
double throughput(const Outcome& outcome, int32_t first);
// The same over windows of `length` steps of worker 0, from its step `first` on.
std::vector<double> batch_throughputs(const Outcome& outcome, int32_t first, int32_t length);

}  // namespace penstock::cluster
