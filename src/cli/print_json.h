// JSON on standard output, and what becomes of it.
#pragma once

#include <nlohmann/json.hpp>

namespace penstock::cli {

// The value and a newline; with `indent` -1 on one line. Bytes that are no UTF-8 (file names,
// comments) become U+FFFD.
// Throws OutputError.
void print_json(const nlohmann::ordered_json& value, int indent = 2);

// Standard output takes no more: a full disk, or (EPIPE) its reader has gone.
struct OutputError {
  int number;  // errno
};
// Throws it. Commands that print as they go on call this, so that the work ends with the output.
void check_output();

}  // namespace penstock::cli
