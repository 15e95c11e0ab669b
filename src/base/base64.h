#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace penstock {

std::string to_base64(std::string_view bytes);
// Returns the bytes, or nothing if the text is not base64 (padding is required, spaces are
// refused).
std::optional<std::string> from_base64(std::string_view text);

}  // namespace penstock
