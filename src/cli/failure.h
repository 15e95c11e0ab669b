// Reports why a command failed: a message for people on standard error, and with --json an object
// for programs on standard output (docs/format/README.md).
#pragma once

#include <string>
#include <vector>

namespace penstock::cli {

// Reports the current exception and returns the exit status. `words` are those of the call. Prints
// nothing if a reader has closed standard output.
int report_failure(const std::string& command, const std::vector<std::string>& words);

}  // namespace penstock::cli
