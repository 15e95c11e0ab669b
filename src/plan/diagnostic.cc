#include "plan/diagnostic.h"

#include <algorithm>
#include <string_view>

#include "plan/utf8.h"

namespace penstock {
namespace {

constexpr size_t shown_columns = 100;
constexpr size_t most_diagnostics = 10;
constexpr std::string_view cut_mark = "...";

// The line that holds byte `offset`, without its end.
std::string_view line_at(std::string_view text, size_t offset, size_t& begin) {
  begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;  // npos + 1 is 0
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // takes no column
  if (begin == 0 && offset >= kByteOrderMark.size() && text.starts_with(kByteOrderMark))
    begin = kByteOrderMark.size();
  size_t end = std::min(text.find('\n', offset), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  return text.substr(begin, end - begin);
}

// One entry a column; what a terminal would not show in one column is replaced.
std::vector<std::string> columns_of(std::string_view line) {
  std::vector<std::string> columns;
  for (size_t i = 0; i < line.size();) {
    const size_t length = utf8_length_at(line, i);
    const auto byte = static_cast<unsigned char>(line[i]);
    if (length == 0) {
      columns.emplace_back("\xef\xbf\xbd");
    } else if (byte < 0x20 || byte == 0x7f) {
      columns.emplace_back(" ");
    } else if (byte == 0xc2 && static_cast<unsigned char>(line[i + 1]) < 0xa0) {
      columns.emplace_back(" ");  // the control characters behind ASCII
    } else {
      columns.emplace_back(line.substr(i, length));
    }
    i += std::max<size_t>(length, 1);
  }
  return columns;
}

// The line and its carets; `first` and `count` are columns from 0.
std::string show(std::vector<std::string> columns, size_t first, size_t count) {
  size_t begin = 0;
  size_t end = columns.size();
  if (end > shown_columns) {
    const size_t middle = first + std::min(count, shown_columns / 2) / 2;
    begin = middle > shown_columns / 2 ? middle - shown_columns / 2 : 0;
    begin = std::min(begin, end - shown_columns);
    end = begin + shown_columns;
  }
  for (size_t i = 0; i < cut_mark.size(); ++i) {
    if (begin > 0) columns[begin + i] = cut_mark[i];
    if (end < columns.size()) columns[end - 1 - i] = cut_mark[i];
  }
  std::string shown;
  for (size_t i = begin; i < end; ++i) shown += columns[i];
  // A caret may stand just behind the end of the line; a full window has no column left for it.
  first = std::min(first, begin + shown_columns - 1);
  const size_t last = std::max(std::min(first + count, end), first + 1);
  shown += "\n" + std::string(first - begin, ' ') + std::string(last - first, '^');
  return shown;
}

std::vector<Diagnostic> first_ten(std::vector<Diagnostic> diagnostics) {
  if (diagnostics.size() > most_diagnostics) diagnostics.resize(most_diagnostics);
  return diagnostics;
}

std::string render_all(const std::vector<Diagnostic>& diagnostics) {
  std::string all;
  for (size_t i = 0; i < diagnostics.size() && i < most_diagnostics; ++i) {
    if (i > 0) all += "\n";
    all += render(diagnostics[i]);
  }
  return all;
}

}  // namespace

Position position_of(const Source& source, uint32_t offset) {
  const std::string_view text = source.text;
  const size_t at = std::min<size_t>(offset, text.size());
  size_t begin = 0;
  line_at(text, at, begin);
  const auto newlines = std::count(text.begin(), text.begin() + static_cast<long>(begin), '\n');
  return {static_cast<size_t>(newlines) + 1, utf8_columns(text.substr(begin, at - begin)) + 1};
}

std::string render(const Diagnostic& diagnostic) {
  const Source* source = diagnostic.span.source;
  if (!source) return diagnostic.message;
  const std::string_view text = source->text;
  const size_t at = std::min<size_t>(diagnostic.span.begin, text.size());
  size_t line_begin = 0;
  const std::string_view line = line_at(text, at, line_begin);
  const Position position = position_of(*source, diagnostic.span.begin);

  std::string out = source->name.empty() ? "" : source->name + ":";
  out += std::to_string(position.line) + ":" + std::to_string(position.column) + ": ";
  out += diagnostic.message + "\n";
  const size_t end = std::min<size_t>(diagnostic.span.end, line_begin + line.size());
  const size_t count = end > at ? utf8_columns(text.substr(at, end - at)) : 1;
  return out + show(columns_of(line), position.column - 1, count);
}

PipeError::PipeError(std::vector<Diagnostic> diagnostics)
    : Error(diagnostics.empty() ? Code::internal : diagnostics.front().code,
            render_all(diagnostics)),
      diagnostics_(first_ten(std::move(diagnostics))) {
  for (const Diagnostic& d : diagnostics_) {
    if (const Source* source = d.span.source)
      places_.push_back({source->name, position_of(*source, d.span.begin), d.message});
  }
}

PipeError::PipeError(Span span, std::string message, Code code)
    : PipeError(std::vector<Diagnostic>{{span, std::move(message), code}}) {}

}  // namespace penstock
