// Habits of other languages in texts that should be JSON.
#pragma once

#include <string>
#include <string_view>

namespace penstock {

// Returns what keeps a refused text from being JSON and what to write, such as
// "; `NaN` at line 3 is no JSON: write null". "" if none of the usual mistakes is in it.
std::string json_mistake(std::string_view text);

}  // namespace penstock
