// How messages name a part of a file. Readers write these texts and error_origin reads them back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

// "PATH: offset 24". A path that holds ": " or " (" or begins with a quote is quoted.
std::string at_offset(std::string_view path, int64_t offset);
// "PATH, record 3".
std::string at_record(std::string_view path, int64_t record);
// The path as messages write it.
std::string path_text(std::string_view path);

}  // namespace penstock
