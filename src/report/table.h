// Text tables, and numbers as people read them: three significant digits, units last.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock {

std::string human_number(double value);     // "12.8k", "1.23M", "0.0123", "inf"
std::string human_rate(double per_second);  // "12.8k/s"
std::string human_bytes(double bytes);      // "1.23 GB" (powers of 1000)
std::string human_seconds(double seconds);  // "12.3 ms"
std::string human_percent(double share);    // 0.42: "42 %"
std::string human_ratio(double ratio);      // "1.85x", ">1000x"
std::string human_cores(double cores);      // "1.98"

// Returns the columns that the text takes on a terminal: UTF-8 code points.
size_t text_width(std::string_view text);
// Returns at most `width` columns; replaces the end by "…".
std::string shortened(std::string_view text, size_t width);
// Breaks text at spaces into lines of at most `width`; indents lines after the first by `indent`.
std::string wrapped(std::string_view text, size_t width, size_t indent);

class TextTable {
 public:
  enum class Align : uint8_t { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
    size_t most = 0;  // wider cells are shortened; 0: never
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells at the end are empty.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Returns one line for each row, one space between columns, none at the end of a line. Leaves
  // titles out if all are empty.
  std::string text(size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace penstock
