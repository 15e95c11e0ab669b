// Traces that jobs leave in a directory, for `penstock fleet`: one file for each process.
//
// With PENSTOCK_TRACE_DIR in the environment, a process writes the trace of its longest run there,
// whenever a run is over, and each kEverySeconds while one goes on: a killed job leaves the last. A
// file is written under another name and renamed, so that no reader sees a part of it.
#pragma once

#include "trace/trace.h"

namespace penstock {

inline constexpr double kDropEverySeconds = 10;

// Returns true if the process leaves traces. The environment is read once, by a forked child again.
bool drops_traces();
// Writes the trace if its run was at least as long as those before. Says once on standard error if
// it cannot be written; never throws. Thread-safe.
void drop_trace(const Trace& trace);

}  // namespace penstock
