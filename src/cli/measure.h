// Traced runs of a pipeline, for trace, explain and optimize.
#pragma once

#include "cli/pipeline.h"
#include "trace/trace.h"

namespace penstock::cli {

// Drains `plan` for a given time or to its end and traces it from element `skip` of the root.
// Ctrl-C ends it early: the trace is valid and marked. Delivers a new trace every `every_seconds`
// during the run, if asked.
struct TracedRun {
  Trace trace;
  ErrorPtr error;  // of the first element that failed, which ended the run
};
TracedRun traced_run(const PlanPtr& plan, const RunOptions& options, const std::string& program,
                     double seconds, int64_t steps = INT64_MAX, int64_t skip = 0,
                     const std::string& file = {});

// Returns the canonical text of a plan.
std::string plan_text(const PlanPtr& plan);

}  // namespace penstock::cli
