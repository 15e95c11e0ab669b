// Text to number, rounded right: false where the text is none.
#pragma once

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "functions/kernels/text/c_locale.h"
#include "functions/kernels/text/strings.h"

namespace penstock {

inline float rounded_text(const char* text, float) { return strtof_l(text, nullptr, c_locale()); }
inline double rounded_text(const char* text, double) { return strtod_l(text, nullptr, c_locale()); }

// A number as to_number reads it: white space around it, a sign, "inf" and "nan", hexadecimal.
template <typename T>
bool parse_float(std::string_view text, T* out) {
  text = stripped(text);
  const bool negative = text.starts_with('-');
  std::string_view digits = text;
  if (negative || text.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || digits[0] == '-' || digits[0] == '+') return false;
  const bool hex = digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
  if (hex) digits.remove_prefix(2);
  if (hex && digits[0] != '.' && !std::isxdigit(static_cast<unsigned char>(digits[0])))
    return false;
  const char* end = digits.data() + digits.size();
  T value{};
  const auto [at, code] = std::from_chars(
      digits.data(), end, value, hex ? std::chars_format::hex : std::chars_format::general);
  if (code == std::errc::invalid_argument || at != end) return false;
  if (code ==
      std::errc::result_out_of_range) {  // infinite, or too small: which, from_chars leaves open
    value = std::abs(rounded_text(std::string(text).c_str(), T{}));
  }
  *out = negative ? -value : value;
  return true;
}

template <typename T>
bool parse_integer(std::string_view text, T* out) {
  text = stripped(text);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return code == std::errc() && at == text.data() + text.size();
}

}  // namespace penstock
