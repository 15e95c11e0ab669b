// Traces for commands that take a PIPE or a TRACE.
#pragma once

#include <string>

#include "cli/args.h"
#include "job/traced_run.h"

namespace penstock::cli {

struct TracedInput {
  Trace trace;
  double disk_bytes_per_second = 0;  // of the storage that --throttle asks for; 0: not known
};

// Reads the trace that the only argument names, or runs the pipeline: `seconds` from its first
// element on. Throws UsageError for a pipeline that ends in a value, the error of an element that
// fails.
TracedInput traced_input(const Args& args, double seconds);

}  // namespace penstock::cli
