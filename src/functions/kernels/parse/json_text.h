// JSON values in messages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "data/charged.h"

namespace penstock {

// A number or string as written, shortened; of arrays and objects only what they are.
// Counts what the tree of a text of so many bytes takes: some ten bytes for each, more where it is
// made of brackets. Small ones are not worth it.
inline Charge json_tree(size_t bytes) {
  constexpr size_t kPerByte = 16, kSmall = 16 << 10;
  return Charge(bytes <= kSmall ? 0 : static_cast<int64_t>(bytes * kPerByte));
}

inline std::string brief_json(const nlohmann::json& json) {
  if (json.is_structured()) return json.is_array() ? "an array" : "an object";
  constexpr size_t kMost = 40;
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

}  // namespace penstock
