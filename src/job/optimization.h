// Optimizing a pipeline from traces of its own runs: one implementation for the command and the
// API.
#pragma once

#include <functional>
#include <optional>

#include "job/comparison.h"
#include "job/traced_run.h"
#include "optimizer/optimize.h"

namespace penstock {

// Runs a plan to a limit and returns its trace. A command shows its progress meanwhile.
using RunTraced = std::function<TracedRun(const PlanPtr&, const RunOptions&, const TraceLimits&)>;

// Returns traced_run with caches of its own.
TracedRun run_alone(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits);

// Returns options for the cores that rewrites plan with and the memory of the run, unless `cores`
// and `memory_bytes` say otherwise (0: they do not).
OptimizeOptions optimize_options(const PrepareOptions& rules, const RunOptions& run, int cores,
                                 int64_t memory_bytes);

// Searches the plan that returns the same elements in the same order fastest. Traces runs on one
// thread. Throws the error of an element that fails, and CANCELLED if a run is interrupted.
OptimizeResult search_plan(const PlanPtr& written, const OptimizeOptions& search,
                           const RunOptions& as_run, const RunTraced& run = run_alone);

// A plan, and how its runs are tuned.
struct TunedPlan {
  PlanPtr plan;
  Tuning tuning = {};
};

// A run as the caller runs it, without any tracing of single threads.
struct MeasuredPlan {
  double rate = 0;  // elements per second
  int64_t elements = 0;
  Trace trace;
};
MeasuredPlan measure_plan(const TunedPlan& plan, const RunOptions& as_run, double seconds,
                          const RunTraced& run = run_alone);

// `plan` as often as the program iterates over it, its caches kept between: repeated, unless it
// repeats itself or never ends. search_plan() plans for that; its result is of one iteration.
PlanPtr iterated(const PlanPtr& plan, int64_t iterations);

// Two plans as the caller would run them, with a trace of the last run of each.
struct MeasuredPair {
  Comparison comparison;
  MeasuredPlan before, after;
  bool once = false;  // one run of each: `after` fills a cache that `before` has not
  // The first elements of both are equal, as many as half a second gives. Not known of plans whose
  // elements may come in any order, or depend on more than their text.
  std::optional<bool> same_elements;

  // Nothing speaks for the plan as it runs now.
  bool is_gain() const {
    return once ? comparison.after > comparison.before : comparison.is_faster();
  }
};
// Runs both plans in turn, for about `seconds` together; `after` stands for "rewritten" of
// job/comparison.h. Throws the error of an element that fails, and CANCELLED if a run is
// interrupted.
MeasuredPair measure_in_turn(const TunedPlan& before, const TunedPlan& after,
                             const RunOptions& as_run, double seconds,
                             const RunTraced& run = run_alone);
// The same of `now`, the plan that runs by default, and `found`, which stands for it: throws
// INTERNAL if their elements differ.
MeasuredPair measure_pair(const TunedPlan& now, const TunedPlan& found, const RunOptions& as_run,
                          double seconds, const RunTraced& run = run_alone);

}  // namespace penstock
