// The table of what a stage counts: one line for each counter. Capture, trace files, differences of
// traces and the API walk it, so a new counter is one line here and one in runtime/counters.h.
#pragma once

#include "runtime/counters.h"
#include "trace/trace.h"

namespace penstock {

// Calls f(key, live counter, field of the trace, is_old) for each counter. An integer field is the
// counter itself, a field of type double is a time that was counted in ticks; keys name the unit
// last. Traces of version 1 need not have the counters that are not old.
template <typename F>
void visit_stage_counters(F&& f) {
  f("elements", &StageCounts::elements, &StageTrace::elements, true);
  f("errors", &StageCounts::errors, &StageTrace::errors, true);
  f("blocks", &StageCounts::blocks, &StageTrace::blocks, true);
  f("bytes", &StageCounts::bytes, &StageTrace::bytes, true);
  f("cpu_seconds", &StageCounts::busy_ticks, &StageTrace::cpu_seconds, true);
  f("starved_seconds", &StageCounts::starved_ticks, &StageTrace::starved_seconds, true);
  f("blocked_seconds", &StageCounts::blocked_ticks, &StageTrace::blocked_seconds, true);
  f("bytes_read", &StageCounts::bytes_read, &StageTrace::bytes_read, true);
  f("files_opened", &StageCounts::files_opened, &StageTrace::files_opened, true);
  f("lock_seconds", &StageCounts::lock_ticks, &StageTrace::lock_seconds, false);
  f("lock_wait_seconds", &StageCounts::lock_wait_ticks, &StageTrace::lock_wait_seconds, false);
}

}  // namespace penstock
