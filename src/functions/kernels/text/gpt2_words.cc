#include "functions/kernels/text/gpt2_words.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <array>
#include <cstdint>

namespace penstock {
namespace {

enum class Class : uint8_t { letter, number, space, other };

Class class_of(UChar32 code) {
  if (code < 0) return Class::other;
  const uint32_t mask = U_GET_GC_MASK(code);
  if (mask & U_GC_L_MASK) return Class::letter;
  if (mask & U_GC_N_MASK) return Class::number;
  return u_isUWhiteSpace(code) ? Class::space : Class::other;
}

const std::array<Class, 128> kAscii = [] {
  std::array<Class, 128> out{};
  for (UChar32 c = 0; c < 128; ++c) out[static_cast<size_t>(c)] = class_of(c);
  return out;
}();

// The class of the character at *at, which moves behind it.
Class next_class(std::string_view text, size_t* at) {
  const auto byte = static_cast<uint8_t>(text[*at]);
  if (byte < 128) {
    ++*at;
    return kAscii[byte];
  }
  auto i = static_cast<int64_t>(*at);
  UChar32 code;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto size = static_cast<int64_t>(text.size());
  U8_NEXT(bytes, i, size, code);  // NOLINT(bugprone-inc-dec-in-conditions): ICU's macro
  *at = static_cast<size_t>(i);
  return class_of(code);
}

size_t contraction(std::string_view text) {
  if (text[0] != '\'') return 0;
  for (const std::string_view c : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(c)) return c.size();
  }
  return 0;
}

}  // namespace

size_t gpt2_word(std::string_view text) {
  if (const size_t n = contraction(text)) return n;
  size_t at = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  const Class kind = next_class(text, &at);
  if (kind != Class::space) {
    for (size_t next = at; next < text.size(); at = next) {
      if (next_class(text, &next) != kind) break;
    }
    return at;
  }
  // White space: all of it at the end of the text, else without its last character.
  size_t begin_of_last = 0;
  at = 0;
  for (size_t next = 0; next < text.size();) {
    if (next_class(text, &next) != Class::space) return begin_of_last > 0 ? begin_of_last : at;
    begin_of_last = at;
    at = next;
  }
  return at;
}

}  // namespace penstock
