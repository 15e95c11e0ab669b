#include "cli/measure.h"

#include "cli/progress.h"

namespace penstock::cli {

void CommandRun::count(int64_t elements, int64_t steps) { Progress::count(elements, steps); }

TracedRun measured_run(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits) {
  const Progress progress("elements", limits.seconds < TraceLimits::kForever ? limits.seconds : 0);
  CommandRun observer;
  return traced_run(plan, options, std::make_shared<PipelineState>(), limits, &observer);
}

}  // namespace penstock::cli
