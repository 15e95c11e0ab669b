#pragma once

#include <string>
#include <string_view>

namespace penstock {

std::string to_base64(std::string_view bytes);

}  // namespace penstock
