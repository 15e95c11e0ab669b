#include "cli/print_json.h"

#include <cstdio>

namespace penstock::cli {

void print_json(const nlohmann::ordered_json& value, int indent) {
  std::puts(
      value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace penstock::cli
