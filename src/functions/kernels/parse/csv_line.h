// One line of CSV cut into fields.
#pragma once

#include <deque>
#include <string_view>

#include "data/charged.h"

namespace penstock {

// Quotes stand around whole fields only; a quote inside is doubled; line ends stand inside quotes
// only. An empty line has no fields.
class CsvLine {
 public:
  CsvLine(char delimiter, bool quotes) : delimiter_(delimiter), quotes_(quotes) {}

  // Cuts the line; throws INVALID_ARGUMENT ("field 2: ..."). Fields point into it, or (those with
  // doubled quotes) into `*unquoted`, which must not be touched while they are used.
  void cut(std::string_view line, ChargedVector<std::string_view>* fields,
           std::deque<ChargedString>* unquoted) const;

 private:
  std::string_view plain_field(std::string_view line, size_t* at, size_t number) const;
  std::string_view quoted_field(std::string_view line, size_t* at, size_t number,
                                std::deque<ChargedString>* unquoted) const;
  char delimiter_;
  bool quotes_;
};

}  // namespace penstock
