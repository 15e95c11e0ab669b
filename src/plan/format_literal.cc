#include "plan/format_literal.h"

#include <array>
#include <charconv>
#include <cmath>

#include "plan/format.h"
#include "plan/lexer.h"
#include "plan/utf8.h"

namespace penstock {
namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

void append_escaped(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '\n': out += "\\n"; break;
    case '\t': out += "\\t"; break;
    case '\r': out += "\\r"; break;
    case '\\': out += "\\\\"; break;
    case '"': out += "\\\""; break;
    default: out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
}

bool needs_escape(char c) {
  return is_control(static_cast<unsigned char>(c)) || c == '\\' || c == '"';
}

bool is_plain_text(std::string_view value) {
  for (const char c : value) {
    const bool known = c == '\n' || c == '\t' || c == '\r';
    if (is_control(static_cast<unsigned char>(c)) && !known) return false;
  }
  return is_utf8(value);
}

template <class Float>
std::string shortest(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string out(buffer.data(), end);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string without_fraction(double value) {
  std::string out = shortest(value);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out;
}

}  // namespace

std::string quote_text(std::string_view value) {
  std::string out = "\"";
  for (size_t i = 0; i < value.size();) {
    const size_t length = utf8_length_at(value, i);
    if (length == 0 || needs_escape(value[i])) {
      append_escaped(out, value[i++]);
    } else {
      out += value.substr(i, length);
      i += length;
    }
  }
  return out + "\"";
}

std::string quote_bytes(std::string_view value) {
  std::string out = "b\"";
  for (const char c : value) {
    if (needs_escape(c) || static_cast<unsigned char>(c) >= 0x80) {
      append_escaped(out, c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string format_string_literal(std::string_view value) {
  return is_plain_text(value) ? quote_text(value) : quote_bytes(value);
}

std::string format_float(double value) { return shortest(value); }
std::string format_float(float value) { return shortest(value); }

std::string format_key(std::string_view key) {
  return is_name(key) ? std::string(key) : quote_text(key);
}

std::string format_number(const Expr& number) {
  if (!number.spelling.empty()) return number.spelling;
  if (number.kind == Expr::Kind::integer) return std::to_string(number.integer_value);
  if (number.kind == Expr::Kind::floating) return format_float(number.float_value);
  const std::string_view unit = number.text == "seconds"   ? "s"
                                : number.text == "bytes/s" ? "B/s"
                                                           : "B";
  return without_fraction(number.float_value).append(unit);
}

}  // namespace penstock
