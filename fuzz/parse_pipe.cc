// Any bytes: refused with a PipeError, or a program whose print reads back and prints the same.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "plan/diagnostic.h"
#include "plan/format.h"
#include "plan/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string printed;
  try {
    const Program program =
        parse_program(std::make_shared<const Source>(Source{"fuzz.pipe", text}));
    printed = format_program(program);
  } catch (const PipeError&) {
    return 0;
  }
  const auto source = std::make_shared<const Source>(Source{"printed.pipe", printed});
  try {
    PENSTOCK_CHECK(format_program(parse_program(source)) == printed);
  } catch (const PipeError&) {
    // Only the print of a text near 1 MiB may be too large.
    PENSTOCK_CHECK(printed.size() > (1 << 20));
  }
  return 0;
}
