#include "base/json_mistake.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace penstock {
namespace {

struct Habit {
  std::string_view word, instead;
};

// Bare words other than true, false and null.
constexpr auto kWords = std::to_array<Habit>({
    {"NaN", "null"},
    {"nan", "null"},
    {"Infinity", "null, or a large number such as 1e308"},
    {"inf", "null, or a large number such as 1e308"},
    {"None", "null"},
    {"undefined", "null"},
    {"nil", "null"},
    {"True", "true"},
    {"False", "false"},
});

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Returns the position after the string that begins at `at`.
size_t skip_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at, text.size() - 1) + 1;
}

std::string at_line(std::string_view text, size_t at) {
  if (text.find('\n') >= text.size() - 1) return "";  // the text is one line
  return " at line " +
         std::to_string(
             1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

// Returns the mistake that begins at `at`, outside of strings, or "".
std::string mistake_at(std::string_view text, size_t at) {
  const char c = text[at];
  if (c == '\'') return "strings have double quotes" + at_line(text, at);
  const bool comment = c == '#' || (c == '/' && at + 1 < text.size() &&
                                    (text[at + 1] == '/' || text[at + 1] == '*'));
  if (comment) return "JSON has no comments" + at_line(text, at);
  if (c == ',') {
    const size_t next = text.find_first_not_of(" \t\r\n", at + 1);
    if (next == std::string_view::npos || (text[next] != ']' && text[next] != '}')) return "";
    return std::string("a comma stands before `") + text[next] + "`" + at_line(text, at) +
           ": leave it out";
  }
  for (const Habit& habit : kWords) {
    const size_t end = at + habit.word.size();
    if (text.substr(at, habit.word.size()) != habit.word ||
        (end < text.size() && is_word(text[end])))
      continue;
    return "`" + std::string(habit.word) + "`" + at_line(text, at) + " is no JSON: write " +
           std::string(habit.instead);
  }
  return "";
}

}  // namespace

std::string json_mistake(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return "; the text is UTF-16: save it as UTF-8";
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (std::string mistake = mistake_at(text, at); !mistake.empty()) return "; " + mistake;
    const bool word = is_word(text[at]);
    for (++at; word && at < text.size() && is_word(text[at]);) ++at;
  }
  return "";
}

}  // namespace penstock
