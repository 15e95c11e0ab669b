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
  f("elements", &NodeCounters::elements, &StageTrace::elements);
  f("errors", &NodeCounters::errors, &StageTrace::errors);
  f("blocks", &NodeCounters::blocks, &StageTrace::blocks);
  f("bytes", &NodeCounters::bytes, &StageTrace::bytes);
  f("cpu_seconds", &NodeCounters::busy_ticks, &StageTrace::cpu_seconds);
  f("starved_seconds", &NodeCounters::starved_ticks, &StageTrace::starved_seconds);
  f("blocked_seconds", &NodeCounters::blocked_ticks, &StageTrace::blocked_seconds);
  f("bytes_read", &NodeCounters::bytes_read, &StageTrace::bytes_read);
  f("files_opened", &NodeCounters::files_opened, &StageTrace::files_opened);
}

}  // namespace penstock
