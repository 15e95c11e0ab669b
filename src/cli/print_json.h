// JSON on standard output.
#pragma once

#include <nlohmann/json.hpp>

namespace penstock::cli {

// The value and a newline; with `indent` -1 on one line. Bytes that are no UTF-8 (file names,
// comments) become U+FFFD.
void print_json(const nlohmann::ordered_json& value, int indent = 2);

}  // namespace penstock::cli
