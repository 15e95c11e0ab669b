// Runs of a pipeline that are traced: what trace, explain and optimize have in common.
#pragma once

#include "cli/pipeline.h"
#include "trace/trace.h"

namespace penstock::cli {

// Drains `plan` for so long or to its end and traces it, from element `skip` of the root on. Ctrl-C
// ends it early: the trace is valid and says so. While it runs `every_seconds` gives a new trace,
// if asked for.
struct TracedRun {
  Trace trace;
  ErrorPtr error;  // of the first element that failed; the run ended there
};
TracedRun traced_run(const PlanPtr& plan, const RunOptions& options, const std::string& program,
                     double seconds, int64_t steps = INT64_MAX, int64_t skip = 0,
                     const std::string& file = {});

// The canonical print of a plan.
std::string plan_text(const PlanPtr& plan);

}  // namespace penstock::cli
