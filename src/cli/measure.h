// Traced runs of a command: they show their progress, and a signal ends them.
#pragma once

#include "job/traced_run.h"

namespace penstock::cli {

TracedRun measured_run(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits);

}  // namespace penstock::cli
