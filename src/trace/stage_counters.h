// The table of what a stage counts: one line for each counter. Capture, trace files, differences of
// traces and the API walk it, so a new counter is one line here and one in runtime/counters.h.
#pragma once

#include "runtime/counters.h"
#include "trace/trace.h"

namespace penstock {

// Calls f(key, live counter, field of the trace) for each counter. An integer field is the counter
// itself, a field of type double is a time that was counted in ticks; keys name the unit last.
template <typename F>
void visit_stage_counters(F&& f) {
  f("elements", &StageCounts::elements, &StageTrace::elements);
  f("errors", &StageCounts::errors, &StageTrace::errors);
  f("blocks", &StageCounts::blocks, &StageTrace::blocks);
  f("bytes", &StageCounts::bytes, &StageTrace::bytes);
  f("cpu_seconds", &StageCounts::busy_ticks, &StageTrace::cpu_seconds);
  f("starved_seconds", &StageCounts::starved_ticks, &StageTrace::starved_seconds);
  f("blocked_seconds", &StageCounts::blocked_ticks, &StageTrace::blocked_seconds);
  f("bytes_read", &StageCounts::bytes_read, &StageTrace::bytes_read);
  f("files_opened", &StageCounts::files_opened, &StageTrace::files_opened);
}

}  // namespace penstock
