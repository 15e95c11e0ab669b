// Text for HTML and SVG.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// Replaces special characters of HTML by entities, control characters by "?".
std::string escaped(std::string_view text);

// Returns a section with the escaped lines as a list under the title; empty without lines.
std::string list_section(const char* title, const std::vector<std::string>& lines);

// Returns snprintf's text, at most 399 characters of it.
template <typename... Values>
std::string print(const char* format, Values... values) {
  char out[400];
  std::snprintf(out, sizeof out, format, values...);
  return out;
}

}  // namespace penstock
