// Optimizing a pipeline from traces of its own runs: one implementation for the command and the
// API.
#pragma once

#include <functional>

#include "job/traced_run.h"
#include "optimizer/optimize.h"

namespace penstock {

// Runs a plan to a limit and returns its trace. A command shows its progress meanwhile.
using RunTraced = std::function<TracedRun(const PlanPtr&, const RunOptions&, const TraceLimits&)>;

// Returns traced_run with caches of its own.
TracedRun run_alone(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits);

// What to plan for: the cores that rewrites plan with and the memory of the run, unless `cores` and
// `memory_bytes` say otherwise (0: they do not).
OptimizeOptions optimize_options(const PrepareOptions& rules, const RunOptions& run, int cores,
                                 int64_t memory_bytes);

// Searches the plan that returns the same elements in the same order fastest. Traces runs on one
// thread. Throws the error of an element that fails, and CANCELLED if a run is interrupted.
OptimizeResult search_plan(const PlanPtr& written, const OptimizeOptions& search,
                           const RunOptions& as_run, const RunTraced& run = run_alone);

// A run as the caller runs it, without any tracing of single threads.
struct MeasuredPlan {
  double rate = 0;  // elements per second
  int64_t elements = 0;
  Trace trace;
};
MeasuredPlan measure_plan(const PlanPtr& plan, const RunOptions& as_run, double seconds,
                          const RunTraced& run = run_alone);

// The plan as written needs less time: its rate alone counts.
inline double seconds_for_written(double seconds) {
  constexpr double kMost = 5;
  return seconds < kMost ? seconds : kMost;
}

}  // namespace penstock
