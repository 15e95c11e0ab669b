#include "functions/kernels/parse/csv_line.h"

#include "base/error.h"
#include "data/charged.h"

namespace penstock {
namespace {

[[noreturn]] void fail(size_t field, const std::string& what) {
  throw Error(Code::invalid_argument, "field " + std::to_string(field) + ": " + what);
}

}  // namespace

void CsvLine::cut(std::string_view line, ChargedVector<std::string_view>* fields,
                  std::deque<ChargedString>* unquoted) const {
  fields->clear();
  unquoted->clear();
  for (size_t at = 0; at < line.size(); ++at) {
    const bool quoted = quotes_ && line[at] == '"';
    fields->push_back(quoted ? quoted_field(line, &at, fields->size(), unquoted)
                             : plain_field(line, &at, fields->size()));
  }
  if (!line.empty() && line.back() == delimiter_) fields->push_back({});
}

// Both leave *at at the delimiter behind the field, or at the end.
std::string_view CsvLine::plain_field(std::string_view line, size_t* at, size_t number) const {
  const size_t begin = *at;
  for (; *at < line.size() && line[*at] != delimiter_; ++*at) {
    const char c = line[*at];
    if (c == '\n' || c == '\r') fail(number, "a line end outside quotes");
    if (c == '"' && quotes_) fail(number, "a quote inside a field without quotes");
  }
  return line.substr(begin, *at - begin);
}

std::string_view CsvLine::quoted_field(std::string_view line, size_t* at, size_t number,
                                       std::deque<ChargedString>* unquoted) const {
  const size_t begin = ++*at;
  bool doubled = false;
  for (;; ++*at) {
    if (*at >= line.size()) fail(number, "the quote is not closed");
    if (line[*at] != '"') continue;
    const char next = *at + 1 < line.size() ? line[*at + 1] : delimiter_;
    if (next == delimiter_) break;
    if (next != '"') fail(number, "text behind the closing quote");
    doubled = true;
    ++*at;
  }
  const std::string_view inside = line.substr(begin, *at - begin);
  ++*at;
  if (!doubled) return inside;
  ChargedString& text = unquoted->emplace_back();
  for (size_t i = 0; i < inside.size(); ++i) {
    text += inside[i];
    if (inside[i] == '"') ++i;
  }
  return text;
}

}  // namespace penstock
