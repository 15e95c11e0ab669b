// What the commands that take a PIPE have in common: reading it, its flags, running it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/args.h"
#include "optimizer/prepare.h"
#include "plan/build.h"
#include "plan/format.h"
#include "runtime/run.h"
#include "trace/trace.h"

namespace penstock::cli {

// Flags that decide what is run and how; appended to a command's own.
std::vector<Flag> pipeline_flags();

struct LoadedPipeline {
  BuiltPlan built;  // as written
  PlanPtr plan;     // as it will be run
  RunOptions run_options;
  PrepareOptions prepare;
  uint64_t seed = 0;
};

// Reads a .pipe file, a trace or standard input, and applies the flags. Throws UsageError,
// PipeError.
LoadedPipeline load_pipeline(const Args& args);
// The one positional argument.
std::string pipe_argument(const Args& args);
// A whole file, or standard input for "-". Throws UsageError.
std::string read_text(const std::string& path);
// A trace of that text. Throws UsageError.
Trace read_trace(const std::string& text, const std::string& path);

}  // namespace penstock::cli
