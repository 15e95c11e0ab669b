// Runs with a consumer that takes its time, as a training step does.
#pragma once

#include "job/live_tuner.h"
#include "job/traced_run.h"

namespace penstock {

struct ConsumerLimits {
  double work_seconds = 0;    // the consumer's own work on each element, without a core; 0: none
  int64_t steps = INT64_MAX;  // elements
  double seconds = TraceLimits::kForever;
};

struct ConsumedRun {
  int64_t steps = 0;
  double seconds = 0;        // whole
  double first_seconds = 0;  // until the first step is done
  double step_seconds = 0;   // mean wall time of the other steps; 0: there is none
  bool is_stopped = false;   // by the observer
  ErrorPtr error;            // of the first element that failed, which ends the run
};

// Takes one element after the other, and waits for `work_seconds` after each; without work, block
// after block, as fast as they come. Memory caches are empty at the start.
ConsumedRun consume(const PlanPtr& plan, const RunOptions& options, const Tuning& tuning,
                    const ConsumerLimits& limits, RunObserver* observer = nullptr);

}  // namespace penstock
