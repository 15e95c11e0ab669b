// Base64 as data uses it.
#pragma once

#include <string>
#include <string_view>

#include "data/charged.h"

namespace penstock {

// Appends the text in the alphabet that is safe in URLs (- and _).
void encode_web_base64(std::string_view bytes, bool pad, ChargedString* out);
// Appends the bytes of a text in that alphabet, its padding may be missing. -1, or the position of
// a character that is not of the alphabet; the size of the text when its length cannot be.
int64_t decode_web_base64(std::string_view text, ChargedString* out);
// The same for either alphabet.
bool decode_any_base64(std::string_view text, ChargedString* out);

}  // namespace penstock
