// The run of the thread that consumes.
#pragma once

#include "runtime/run.h"

namespace penstock {

// While it lives, Run::current() of this thread is `run`: pipelines inside functions open in it,
// and it counts in that
// lane. The consumer's lane has one thread at a time.
class ScopedRun {
 public:
  explicit ScopedRun(Run* run, int lane = Run::kConsumerLane);
  ~ScopedRun();
  ScopedRun(const ScopedRun&) = delete;
  ScopedRun& operator=(const ScopedRun&) = delete;

 private:
  Run* before_;
  int lane_before_;
};

}  // namespace penstock
