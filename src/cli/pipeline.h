// What the commands that take a PIPE have in common: reading it, its flags, running it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "cli/args.h"
#include "optimizer/prepare.h"
#include "plan/build.h"
#include "plan/format.h"
#include "runtime/run.h"

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
std::string read_text(const std::string& path);

// Ctrl-C asks the current run to stop; a second one ends the program.
class CancelOnSignal {
 public:
  explicit CancelOnSignal(BlockIterator* iterator);
  ~CancelOnSignal();
  static bool requested();
};

}  // namespace penstock::cli
