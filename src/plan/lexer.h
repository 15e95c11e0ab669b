// Text to tokens. Comments stand aside: they mean nothing to the parser, the formatter keeps them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/diagnostic.h"
#include "plan/syntax.h"

namespace penstock {

struct Token {
  enum class Kind : uint8_t {
    end,
    name,      // words of the language too
    integer,   // integer
    floating,  // number
    quantity,  // number, value: unit class
    text,      // value
    bytes,     // value
    mark,      // ( ) [ ] { } , ; : . ... | -> = == != < <= > >= + - * ** / // %
    error,     // reported already
  };
  Kind kind = Kind::end;
  bool newline_before = false;
  uint32_t begin = 0;
  uint32_t end = 0;
  int32_t match = -1;  // opening bracket: the token that closes it, if one does
  uint32_t value = 0;  // into Tokens::values
  uint64_t integer = 0;
  double number = 0;
};

struct Comment {
  uint32_t begin = 0;  // at the #
  uint32_t end = 0;    // behind the last byte that is no white space
  bool own_line = false;
};

struct Tokens {
  std::vector<Token> all;  // the last one is `end`
  std::vector<std::string> values;
  std::vector<Comment> comments;
  std::vector<Diagnostic> errors;  // at most ten
};

Tokens tokenize(const Source& source);

// A letter or _, then letters, digits and _.
bool is_name(std::string_view text);

// let param if then else and or not true false none auto inf nan: names of nothing else, but
// allowed as fields, keys of dicts and names of arguments.
bool is_reserved(std::string_view name);

}  // namespace penstock
