// JSON values in messages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace penstock {

// A number or string as written, shortened; of arrays and objects only what they are.
inline std::string brief_json(const nlohmann::json& json) {
  if (json.is_structured()) return json.is_array() ? "an array" : "an object";
  constexpr size_t kMost = 40;
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

}  // namespace penstock
