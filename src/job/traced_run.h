// Traced runs of a pipeline: one implementation for the commands and for the API.
#pragma once

#include <memory>
#include <string>

#include "data/digest.h"
#include "job/live_tuner.h"
#include "runtime/run.h"
#include "trace/trace.h"

namespace penstock {

// Returns the canonical text of a plan.
std::string plan_text(const PlanPtr& plan);

// Follows a run from the thread that runs it.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // The iterator may be cancelled from any thread until end().
  virtual void begin(BlockIterator*) {}
  virtual void end() {}
  // Called after each block; `elements` so far, at most `steps` if that is not 0.
  virtual void count(int64_t /*elements*/, int64_t /*steps*/) {}
  // Returns true if the run was cancelled from outside, not by its time limit.
  virtual bool is_stopped() const { return false; }
};

// Tells the observer, which may be null, about a run for the lifetime of this object.
class Observed {
 public:
  Observed(RunObserver* observer, BlockIterator* iterator) : observer_(observer) {
    if (observer_) observer_->begin(iterator);
  }
  ~Observed() {
    if (observer_) observer_->end();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;
  bool is_stopped() const { return observer_ && observer_->is_stopped(); }

 private:
  RunObserver* const observer_;
};

struct TraceLimits {
  static constexpr double kForever = 1e9;
  double seconds = kForever;     // of the elements after the skipped ones
  int64_t elements = INT64_MAX;  // errors included
  // Time for the first element, after which `seconds` begin; 0: `seconds` include it.
  double first_seconds = 0;
  int64_t skip = 0;                // elements before the trace begins
  std::string file = {};           // gets a new trace every few seconds while the run goes on
  StreamDigest* digest = nullptr;  // gets every element; not owned
  Tuning tuning = {};
};

struct TracedRun {
  Trace trace;     // marked as interrupted if an error or the observer ended the run
  ErrorPtr error;  // of the first element that failed, which ends the run
};

// Drains `plan` to a limit or to its end. `state` outlives the run (memory caches).
TracedRun traced_run(const PlanPtr& plan, const RunOptions& options,
                     const std::shared_ptr<PipelineState>& state, const TraceLimits& limits,
                     RunObserver* observer = nullptr);

}  // namespace penstock
