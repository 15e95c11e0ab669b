// Values to spellings: numbers, strings, keys.
#pragma once

#include <string>
#include <string_view>

#include "plan/syntax.h"

namespace penstock {

// "...", with \xNN for bytes that are not UTF-8 or are control characters.
std::string quote_text(std::string_view value);

// b"...", ASCII only.
std::string quote_bytes(std::string_view value);

// A key of a dict: bare where it is a name.
std::string format_key(std::string_view key);

// An integer, float or quantity: as it was written, else its shortest form.
std::string format_number(const Expr& number);

}  // namespace penstock
