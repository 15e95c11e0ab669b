// Text to number, rounded right: false where the text is none.
#pragma once

#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "functions/kernels/text/c_locale.h"
#include "functions/kernels/text/strings.h"

namespace penstock {

inline float rounded_text(const char* text, float) { return strtof_l(text, nullptr, c_locale()); }
inline double rounded_text(const char* text, double) { return strtod_l(text, nullptr, c_locale()); }

// 1 to 8 digits and nothing else, all at once.
inline bool few_digits(const char* p, size_t size, uint64_t* out) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t kZeros = 0x3030303030303030, kHigh = 0xf0f0f0f0f0f0f0f0;
  uint64_t word;
  if (size >= 4) {
    uint32_t front, back;
    std::memcpy(&front, p, 4);
    std::memcpy(&back, p + size - 4, 4);
    word = front | uint64_t{back} << (8 * (size - 4));
  } else {
    const auto byte = [p](size_t i) { return uint64_t{static_cast<uint8_t>(p[i])}; };
    word = byte(0) | byte(size / 2) << (8 * (size / 2)) | byte(size - 1) << (8 * (size - 1));
  }
  if (size < 8) word = word << (8 * (8 - size)) | kZeros >> (8 * size);
  if ((word & kHigh) != kZeros || ((word + 0x0606060606060606) & kHigh) != kZeros) return false;
  word -= kZeros;
  word = word * 10 + (word >> 8);  // pairs of digits, then two pairs, then all
  *out = (((word & 0x000000ff000000ff) * 0x000f424000000064) +
          (((word >> 16) & 0x000000ff000000ff) * 0x0000271000000001)) >>
         32;
  return true;
}

// Digits with at most one point and a minus: exact as long as both parts fit the format's digits.
template <typename T>
bool plain_decimal(std::string_view text, T* out) {
  static constexpr T kTens[] = {T(1e0), T(1e1), T(1e2), T(1e3), T(1e4), T(1e5),
                                T(1e6), T(1e7), T(1e8), T(1e9), T(1e10)};
  constexpr uint64_t kMostDigits = uint64_t{1} << (sizeof(T) == 4 ? 24 : 53);
  const bool negative = text.starts_with('-');
  const char *p = text.data() + negative, *const end = text.data() + text.size();
  if (end - p > 17 || p == end) return false;
  uint64_t digits = 0;
  int64_t decimals = 0;
  if (end - p > 8 || !few_digits(p, static_cast<size_t>(end - p), &digits)) {
    const char* const first = p;
    digits = 0;
    while (p != end && static_cast<unsigned>(*p - '0') < 10)
      digits = digits * 10 + static_cast<unsigned>(*p++ - '0');
    int64_t count = p - first;
    if (p != end && *p == '.') {
      const char* const point = p++;
      while (p != end && static_cast<unsigned>(*p - '0') < 10)
        digits = digits * 10 + static_cast<unsigned>(*p++ - '0');
      decimals = p - point - 1;
      count += decimals;
    }
    if (p != end || count == 0 || decimals > 10 || digits > kMostDigits) return false;
  }
  const T value = static_cast<T>(digits) / kTens[decimals];
  *out = negative ? -value : value;
  return true;
}

template <typename T>
bool plain_integer(std::string_view text, T* out) {
  const bool negative = text.starts_with('-');
  const char *p = text.data() + negative, *const end = text.data() + text.size();
  if (p == end || end - p > 18 || (negative && std::is_unsigned_v<T>)) return false;
  uint64_t digits = 0;
  if (end - p <= 8) {
    if (!few_digits(p, static_cast<size_t>(end - p), &digits)) return false;
  } else {
    for (; p != end; ++p) {
      const auto digit = static_cast<unsigned>(*p - '0');
      if (digit >= 10) return false;
      digits = digits * 10 + digit;
    }
  }
  const auto value = static_cast<int64_t>(negative ? 0 - digits : digits);
  *out = static_cast<T>(value);
  return static_cast<int64_t>(*out) == value && (negative || *out >= T(0));
}

// A number as to_number reads it: white space around it, a sign, "inf" and "nan", hexadecimal.
template <typename T>
bool parse_float(std::string_view text, T* out) {
  if (plain_decimal(text, out)) return true;
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
  if (plain_integer(text, out)) return true;
  text = stripped(text);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return code == std::errc() && at == text.data() + text.size();
}

}  // namespace penstock
