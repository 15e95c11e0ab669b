#include "job/optimization.h"

namespace penstock {
namespace {

TracedRun whole_run(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits,
                    const RunTraced& run) {
  TracedRun out = run(plan, options, limits);
  if (out.error) throw Error(*out.error);
  if (out.trace.interval.interrupted) throw Error(Code::cancelled, "cancelled");
  return out;
}

}  // namespace

TracedRun run_alone(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits) {
  return traced_run(plan, options, std::make_shared<PipelineState>(), limits);
}

OptimizeOptions optimize_options(const PrepareOptions& rules, const RunOptions& run, int cores,
                                 int64_t memory_bytes) {
  OptimizeOptions out;
  out.rules = rules;
  out.cores = cores > 0 ? cores : rules.threads;
  out.memory_bytes = memory_bytes > 0       ? memory_bytes
                     : run.memory_bytes > 0 ? run.memory_bytes
                                            : usable_memory_bytes() / 4 * 3;
  return out;
}

OptimizeResult search_plan(const PlanPtr& written, const OptimizeOptions& search,
                           const RunOptions& as_run, const RunTraced& run) {
  RunOptions one_thread = as_run;
  one_thread.threads = 1;
  return optimize_plan(written, search, [&](const PlanPtr& plan, double seconds, int64_t skip) {
    return whole_run(plan, one_thread, {.seconds = seconds, .skip = skip}, run).trace;
  });
}

MeasuredPlan measure_plan(const PlanPtr& plan, const RunOptions& as_run, double seconds,
                          const RunTraced& run) {
  MeasuredPlan out;
  out.trace = whole_run(plan, as_run, {.seconds = seconds}, run).trace;
  const TraceInterval& t = out.trace.interval;
  out.elements = t.elements;
  out.rate = t.seconds > 0 ? static_cast<double>(t.elements) / t.seconds : 0;
  return out;
}

}  // namespace penstock
