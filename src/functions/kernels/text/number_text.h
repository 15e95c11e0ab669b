// Numbers read from text.
#pragma once

#include <string_view>

#include "data/dtype.h"

namespace penstock {

// Writes the number of that dtype; false when the text holds none. White space around it,
// hexadecimal floats, inf and nan are read; floats too large become infinite, integers that do not
// fit are no numbers. REQUIRES is_number(dtype).
bool read_number(std::string_view text, DType dtype, std::byte* out);

}  // namespace penstock
