// Prints JSON to standard output and reports write errors.
#pragma once

#include <nlohmann/json.hpp>

namespace penstock::cli {

// Prints the value and a newline; with `indent` -1 on one line. Bytes that are not UTF-8 (file
// names, comments) become U+FFFD. Throws OutputError.
void print_json(const nlohmann::ordered_json& value, int indent = 2);

// Standard output refuses more: a full disk, or (EPIPE) its reader has gone.
struct OutputError {
  int number;  // errno
};
// Throws OutputError. Commands with continuous output call this, so that the work ends with the
// output.
void check_output();

}  // namespace penstock::cli
