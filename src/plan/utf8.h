// UTF-8, as far as texts and columns need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

// Length of the valid code point that begins at `at`, 0 when the bytes there are not UTF-8.
size_t utf8_length_at(std::string_view text, size_t at);

bool is_utf8(std::string_view text);

// `code` is at most 0x10ffff and no surrogate.
void append_utf8(std::string& text, uint32_t code);

// Code points; a byte that is not UTF-8 counts as one.
size_t utf8_columns(std::string_view text);

}  // namespace penstock
