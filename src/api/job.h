// Between the job layer of users and traces, models and reports.
#pragma once

#include "penstock/job.h"
#include "trace/trace.h"

namespace penstock {

job::Stats job_stats(const Trace& trace);

}  // namespace penstock
