#include "cli/print_json.h"

#include <cerrno>
#include <cstdio>

namespace penstock::cli {

void print_json(const nlohmann::ordered_json& value, int indent) {
  std::puts(
      value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  check_output();
}

void check_output() {
  if (std::ferror(stdout)) throw OutputError{errno};
}

}  // namespace penstock::cli
