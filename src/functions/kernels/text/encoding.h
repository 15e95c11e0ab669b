// Code points from bytes and back, in any encoding that ICU knows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/charged.h"
#include "functions/op.h"

namespace penstock {

// What happens where bytes stand for nothing. Truncated sequences are one error, surrogates and
// overlong forms one for each byte.
struct ErrorPolicy {
  enum class Action : uint8_t { strict, replace, ignore };
  Action action = Action::replace;
  int32_t replacement = 0xFFFD;
  bool control_characters = false;  // U+0000 to U+001F count as errors

  // From the attributes errors, replacement_char, replace_control_characters (where declared).
  explicit ErrorPolicy(const Attrs& attrs);
  // What the op's parameters are to add, and their check at build (throws TypeError).
  static std::vector<Param> params(bool with_control);
  static void check(const InferContext& context);

  // The code point to be taken; -1 for none. Throws INVALID_ARGUMENT when strict.
  int32_t taken(int32_t code, bool error) const {
    return error || (control_characters && code < 0x20) ? failed() : code;
  }

 private:
  int32_t failed() const;
};

// Throws RESOURCE_EXHAUSTED for a text of 2 GiB or more, whose length ICU cannot take.
void check_for_icu(std::string_view text);
// Throws TypeError naming `attr` when ICU knows no such encoding.
void check_encoding(const InferContext& context, std::string_view attr);

// One character: bytes [begin, end) of the text.
struct CodePoint {
  int32_t code;  // U+FFFD where it is an error
  bool error;
  int64_t begin, end;
};

// Thread-safe: what ICU needs is made for each call.
class TextDecoder {
 public:
  explicit TextDecoder(std::string encoding);
  // Calls f(CodePoint) for each character.
  template <typename F>
  void for_each(std::string_view text, F&& f) const {
    if (!utf8_) {
      ChargedVector<CodePoint> points;
      decode(text, &points);
      for (const CodePoint& p : points) f(p);
      return;
    }
    for (int64_t at = 0; at < static_cast<int64_t>(text.size());) f(next_utf8(text, &at));
  }

 private:
  static CodePoint next_utf8(std::string_view text, int64_t* at);
  void decode(std::string_view text, ChargedVector<CodePoint>* out) const;
  std::string encoding_;  // bounded: a name
  bool utf8_;
};

enum class UnicodeForm : uint8_t { utf8, utf16be, utf32be };
// "UTF-8", "UTF-16-BE", "UTF-32-BE"; throws TypeError naming `attr`.
UnicodeForm unicode_form(const Attrs& attrs, std::string_view attr);
bool is_code_point(int64_t code);
// REQUIRES is_code_point.
void append_code_point(int32_t code, UnicodeForm form, ChargedString* out);

}  // namespace penstock
