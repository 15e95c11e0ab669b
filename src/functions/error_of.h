// For tests: what a call throws, as text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace penstock {

// The error's code name and message, or "" when nothing was thrown.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(code_name(error.code())) + " " + error.message();
  }
  return "";
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace penstock
