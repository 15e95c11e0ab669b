// The input of penstock predict: --feed and what goes with it.
#pragma once

#include <string>
#include <vector>

#include "cli/args.h"
#include "cluster/feed.h"

namespace penstock::cli {

std::vector<Flag> feed_flags();
// Checks the flags that need no work. Throws UsageError.
void check_feed(const Args& args);
// Reads a rate ("500/s") or a trace, or measures the rate of a pipeline on this machine and how it
// varies: each of its elements is one step's input. Adds the assumptions to `notes`; no rate
// without --feed. Throws UsageError, PipeError, and the error of a pipeline that fails.
cluster::Feed parse_feed(const Args& args, std::vector<std::string>* notes);

}  // namespace penstock::cli
