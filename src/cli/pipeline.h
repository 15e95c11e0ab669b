// Common parts of commands that take a PIPE: reading it, its flags, running it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/args.h"
#include "job/pipeline.h"
#include "trace/trace.h"

namespace penstock::cli {

// Flags that decide which plan runs and how; added to a command's own flags.
std::vector<Flag> pipeline_flags();

// Reads a .pipe file, a trace or standard input, and applies the flags. Throws UsageError,
// PipeError.
LoadedPipeline load_pipeline(const Args& args);
// The same with the file named, for commands that take several.
LoadedPipeline load_pipeline(const Args& args, const std::string& path);
// Returns the only positional argument.
std::string pipe_argument(const Args& args);
// Reads a whole file, or standard input for "-". Throws UsageError.
std::string read_text(const std::string& path);
// Parses a trace. Throws UsageError.
Trace read_trace(const std::string& text, const std::string& path);

}  // namespace penstock::cli
