// Runs of other processes that a command looks at: --attach PID and --run N.
#pragma once

#include <string>
#include <vector>

#include "cli/args.h"
#include "job/attached_process.h"

namespace penstock::cli {

// Returns the process of an argument. Throws UsageError if it is not a number, Refusal if the
// process cannot be asked.
AttachedProcess attach_to(const std::string& pid);

// Traces what a run of the process (0: its only one) does from now until `seconds` (or --seconds)
// are over, a signal comes or the run ends; `file`, if it is not empty, is replaced every few
// seconds. REQUIRES
// --attach.
Trace attached_trace(const Args& args, int64_t run, double seconds, const std::string& file = {});

}  // namespace penstock::cli
