#include "plan/literal.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include "plan/utf8.h"

namespace penstock {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_name_char(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
char at(std::string_view text, size_t i) { return i < text.size() ? text[i] : '\0'; }

struct Unit {
  std::string_view name;
  std::string_view unit_class;
  double factor;
};

constexpr double kibi = 1024;
constexpr Unit units[] = {
    {"B", "bytes", 1},
    {"kB", "bytes", 1e3},
    {"KB", "bytes", 1e3},
    {"MB", "bytes", 1e6},
    {"GB", "bytes", 1e9},
    {"TB", "bytes", 1e12},
    {"PB", "bytes", 1e15},
    {"KiB", "bytes", kibi},
    {"MiB", "bytes", kibi* kibi},
    {"GiB", "bytes", kibi* kibi* kibi},
    {"TiB", "bytes", kibi* kibi* kibi* kibi},
    {"PiB", "bytes", kibi* kibi* kibi* kibi* kibi},
    {"ns", "seconds", 1e-9},
    {"us", "seconds", 1e-6},
    {"ms", "seconds", 1e-3},
    {"s", "seconds", 1},
    {"min", "seconds", 60},
    {"h", "seconds", 3600},
    {"bit", "bytes/s", 1.0 / 8},
    {"kbit", "bytes/s", 1e3 / 8},
    {"Kbit", "bytes/s", 1e3 / 8},
    {"Mbit", "bytes/s", 1e6 / 8},
    {"Gbit", "bytes/s", 1e9 / 8},
    {"Tbit", "bytes/s", 1e12 / 8},
};

// Digits with single underscores between them; stops before anything else.
size_t digits_end(std::string_view text, size_t i, bool (*is)(char)) {
  while (is(at(text, i)) || (at(text, i) == '_' && is(at(text, i + 1)))) ++i;
  return i;
}

std::string without_underscores(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

// from_chars does not say on which side a number is out of range: the place of its first digit
// does.
bool is_tiny(std::string_view digits) {
  const size_t mark = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, mark);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const double place = static_cast<double>(point) - static_cast<double>(first);
  double exponent = 0;
  if (mark < digits.size()) {
    size_t i = mark + 1;
    const bool negative = at(digits, i) == '-';
    if (negative || at(digits, i) == '+') ++i;
    for (; i < digits.size(); ++i) exponent = std::min(exponent * 10 + (digits[i] - '0'), 1e9);
    if (negative) exponent = -exponent;
  }
  return place + exponent < 0;
}

void read_hex(std::string_view text, NumberLiteral& out) {
  out.length = digits_end(text, 2, is_hex);
  const std::string digits = without_underscores(text.substr(2, out.length - 2));
  const auto result =
      std::from_chars(digits.data(), digits.data() + digits.size(), out.integer, 16);
  if (digits.empty()) out.error = "expected hexadecimal digits after `0x`";
  if (result.ec == std::errc::result_out_of_range) out.error = "the number needs more than 64 bits";
}

void read_decimal(std::string_view text, NumberLiteral& out) {
  size_t i = digits_end(text, 0, is_digit);
  const size_t whole = i;
  if (at(text, i) == '.' && is_digit(at(text, i + 1))) i = digits_end(text, i + 1, is_digit);
  if (at(text, i) == 'e' || at(text, i) == 'E') {
    const size_t sign = at(text, i + 1) == '+' || at(text, i + 1) == '-' ? 1 : 0;
    if (is_digit(at(text, i + 1 + sign))) i = digits_end(text, i + 1 + sign, is_digit);
  }
  out.length = i;
  const std::string digits = without_underscores(text.substr(0, i));
  const char* end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, out.number).ec == std::errc::result_out_of_range) {
    out.number = 0;
    if (!is_tiny(digits)) out.error = "the number is larger than any float64";
  }
  if (i != whole) {
    out.kind = NumberLiteral::Kind::floating;
    return;
  }
  const auto result = std::from_chars(digits.data(), end, out.integer);
  if (result.ec == std::errc::result_out_of_range) out.error = "the number needs more than 64 bits";
}

void read_unit(std::string_view text, NumberLiteral& out) {
  const size_t begin = out.length;
  while (is_name_char(at(text, out.length))) ++out.length;
  const std::string_view name = text.substr(begin, out.length - begin);
  const auto* unit = std::find_if(std::begin(units), std::end(units),
                                  [&](const Unit& u) { return u.name == name; });
  if (unit == std::end(units)) {
    out.error = "unknown unit `" + std::string(name) + "`; known: B KB MB GB KiB MiB GiB, " +
                "ns us ms s min h, MB/s, Mbit Gbit";
    return;
  }
  out.kind = NumberLiteral::Kind::quantity;
  out.number *= unit->factor;
  out.unit_class = unit->unit_class;
  const bool per_second = at(text, out.length) == '/' && at(text, out.length + 1) == 's' &&
                          !is_name_char(at(text, out.length + 2));
  if (per_second && unit->unit_class != "seconds") {
    out.length += 2;
    out.unit_class = "bytes/s";
  }
}

// Reads one string; the members say where it stands.
class StringReader {
 public:
  explicit StringReader(std::string_view text) : text_(text) {}

  StringLiteral read() {
    out_.bytes = text_[0] == 'b';
    i_ = out_.bytes ? 2 : 1;
    while (i_ < text_.size() && text_[i_] != '"' && text_[i_] != '\n') {
      if (text_[i_] == '\\') {
        escape();
      } else {
        plain();
      }
    }
    if (at(text_, i_) == '"') {
      ++i_;
    } else {
      out_.error.clear();
      fail("the string has no closing `\"` on its line", 0, i_);
    }
    out_.length = i_;
    return std::move(out_);
  }

 private:
  void fail(std::string message, size_t begin, size_t end) {
    if (!out_.error.empty()) return;
    out_.error = std::move(message);
    out_.error_begin = begin;
    out_.error_end = end;
  }

  void plain() {
    const size_t length = utf8_length_at(text_, i_);
    if (length == 0 && !out_.bytes) {
      fail("the text is not UTF-8 here; write bytes as b\"\\xNN\"", i_, i_ + 1);
    }
    const size_t taken = std::max<size_t>(length, 1);
    out_.value.append(text_.substr(i_, taken));
    i_ += taken;
  }

  void escape() {
    const char c = at(text_, i_ + 1);
    constexpr std::string_view names = "ntr\\\"";
    constexpr std::string_view values = "\n\t\r\\\"";
    const size_t known = names.find(c);
    if (c != '\0' && known != std::string_view::npos) {
      out_.value.push_back(values[known]);
      i_ += 2;
    } else if (c == 'x') {
      byte_escape();
    } else if (c == 'u') {
      code_point_escape();
    } else {
      fail("unknown escape; known are \\n \\t \\r \\\\ \\\" \\xNN \\u{...}", i_, i_ + 2);
      ++i_;
    }
  }

  void byte_escape() {
    if (!is_hex(at(text_, i_ + 2)) || !is_hex(at(text_, i_ + 3))) {
      fail("\\x needs two hexadecimal digits", i_, i_ + 2);
      i_ += 2;
      return;
    }
    out_.value.push_back(static_cast<char>(hex(i_ + 2, 2)));
    i_ += 4;
  }

  void code_point_escape() {
    size_t end = i_ + 3;
    while (is_hex(at(text_, end))) ++end;
    const size_t count = end - (i_ + 3);
    if (at(text_, i_ + 2) != '{' || at(text_, end) != '}' || count == 0 || count > 6) {
      fail("\\u needs one to six hexadecimal digits in braces: \\u{e9}", i_, i_ + 2);
      i_ += 2;
      return;
    }
    const uint32_t code = hex(i_ + 3, count);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      fail("\\u{...} is no character of Unicode", i_, end + 1);
    } else {
      append_utf8(out_.value, code);
    }
    i_ = end + 1;
  }

  uint32_t hex(size_t begin, size_t count) const {
    uint32_t value = 0;
    std::from_chars(text_.data() + begin, text_.data() + begin + count, value, 16);
    return value;
  }

  std::string_view text_;
  size_t i_ = 0;
  StringLiteral out_;
};

}  // namespace

NumberLiteral read_number(std::string_view text) {
  NumberLiteral out;
  if (at(text, 0) == '0' && (at(text, 1) == 'x' || at(text, 1) == 'X')) {
    read_hex(text, out);
    if (is_name_char(at(text, out.length))) {
      while (is_name_char(at(text, out.length))) ++out.length;
      out.error = "not a hexadecimal number";
    }
    return out;
  }
  read_decimal(text, out);
  if (is_name_char(at(text, out.length))) {
    read_unit(text, out);
  } else if (at(text, out.length) == '.' && at(text, out.length + 1) != '.') {
    ++out.length;
    out.error = "a number needs digits after its point: 2.0";
  }
  return out;
}

StringLiteral read_string(std::string_view text) { return StringReader(text).read(); }

}  // namespace penstock
