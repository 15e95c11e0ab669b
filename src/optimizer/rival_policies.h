// Policies that others publish or use, over the interface of our own: what it is judged against.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/tuner.h"

namespace penstock {

// All cores to every stage at the start: what people write by hand.
std::unique_ptr<TunerPolicy> heuristic_policy();
// One more call to the stage that keeps its calls busiest.
std::unique_ptr<TunerPolicy> local_policy();
// One step up or down of a stage, drawn; kept if the rate did not fall.
std::unique_ptr<TunerPolicy> random_walk_policy(uint64_t seed);
// tf.data's: raises the parallelism that lowers the latency of the M/M/1/k model most, until the
// latency is below the processing time over the cores (HILL_CLIMB) or, `everything`, until all are
// at their most (MAX_PARALLELISM, its default). Waits twice as long after each time, up to a
// minute.
std::unique_ptr<TunerPolicy> autotune_policy(bool everything);

}  // namespace penstock
