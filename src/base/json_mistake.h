// Habits from other languages in texts that should be JSON.
#pragma once

#include <string>
#include <string_view>

namespace penstock {

// Returns the reason why a refused text is not JSON and what to write instead, for the end of a
// message. Returns "" if the text has none of the usual mistakes.
std::string json_mistake(std::string_view text);

}  // namespace penstock
