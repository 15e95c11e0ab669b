// Numbers, units and strings of the text: spelling to value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock {

// A spelled number at the beginning of `text`. `length` covers its unit.
struct NumberLiteral {
  enum class Kind { integer, floating, quantity };
  Kind kind = Kind::integer;
  size_t length = 0;
  uint64_t integer = 0;
  double number = 0;
  std::string_view unit_class;  // "bytes", "seconds", "bytes/s"
  std::string error;            // empty when all is well
};
NumberLiteral read_number(std::string_view text);

// A string at the beginning of `text`, which is `"` or `b"`.
struct StringLiteral {
  bool bytes = false;
  size_t length = 0;
  std::string value;
  std::string error;  // empty when all is well; else about [error_begin, error_end) of text
  size_t error_begin = 0;
  size_t error_end = 0;
};
StringLiteral read_string(std::string_view text);

}  // namespace penstock
