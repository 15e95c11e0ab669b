// The keys that a record has, for messages about one that is missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// "; the record has `image`, `label` and 3 more" for what = "the record"; sorted, the first 20.
std::string keys_there(std::string_view what, std::vector<std::string_view> keys);

}  // namespace penstock
