// The run of the thread that consumes.
#pragma once

#include "runtime/run.h"

namespace penstock {

// While it lives, Run::current() of this thread is `run`: pipelines inside functions open in it.
class ScopedRun {
 public:
  explicit ScopedRun(Run* run);
  ~ScopedRun();
  ScopedRun(const ScopedRun&) = delete;
  ScopedRun& operator=(const ScopedRun&) = delete;

 private:
  Run* before_;
};

}  // namespace penstock
