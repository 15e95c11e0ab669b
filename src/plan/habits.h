// Forms of Python, JavaScript, C, shell and TensorFlow that people write by habit: which they are,
// and what they are here. The parser and the elaborator ask when they refuse a text anyway.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/lexer.h"
#include "plan/syntax.h"

namespace penstock {

// A foreign form among tokens [first, last], and the message that names the right one.
struct ForeignForm {
  size_t first = 0;
  size_t last = 0;
  std::string message;
};
// Looks at the neighbours of the token `found`, where the parser cannot go on.
std::optional<ForeignForm> foreign_form(std::string_view text, const std::vector<Token>& tokens,
                                        size_t found, bool in_brackets);

// Returns true for `numbers` in `range(5)  // numbers`: a comment that was read as a division.
bool follows_slashes(Span span);

// Returns a message about a character that begins no token, "" if no habit explains it.
std::string foreign_character(std::string_view character);

// Returns the word to write for a name that is not defined, "true" for "True"; "" if none is known.
std::string_view word_for(std::string_view name);
// Returns the call to write for a function that does not exist: "size(x)" for "len".
std::string_view call_for(std::string_view name);
// Returns true for tf, np, torch and so on.
bool is_foreign_module(std::string_view name);
// Returns the names of `tf.strings.lower`; none if the expression is not a chain of names.
std::vector<std::string> dotted_names(const Expr& expr);

}  // namespace penstock
