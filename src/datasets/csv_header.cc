#include "datasets/csv_header.h"

#include <algorithm>

#include "datasets/csv_fields.h"
#include "functions/kernels/text/parse_number.h"

namespace penstock {
namespace {

constexpr int64_t kGuessedFrom = 100;  // rows

// The rows of a file from its first line on.
class FirstRows {
 public:
  FirstRows(const std::string& path, const CsvLayout& layout) : path_(path), rows_(layout.rows) {
    rows_.header = false;
    reader_ = open_rows(path, layout.reading, rows_);
  }

  // The fields of the next row, alive until the next call; false at the end. Throws what is wrong.
  bool next(std::vector<CsvField>* fields) {
    reader_->read(&chunk_, 1);
    if (chunk_.error) throw Error(*chunk_.error);
    if (chunk_.records.empty()) return false;
    split_fields(chunk_.records[0], rows_, fields);
    return true;
  }

 private:
  const std::string path_;
  RowLayout rows_;
  std::unique_ptr<RecordReader> reader_;
  RecordChunk chunk_;
};

// Spreadsheets begin a file with a byte order mark.
std::string_view without_mark(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

std::vector<std::string> header_names(FirstRows* rows, const std::string& path) {
  std::vector<CsvField> fields;
  if (!rows->next(&fields))
    throw Error(Code::invalid_argument, "csv: " + path + ": the file has no header line");
  std::vector<std::string> out;
  for (const CsvField& f : fields)
    out.emplace_back(out.empty() ? without_mark(f.text()) : f.text());
  return out;
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr size_t kMost = 12;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    out += (out.empty() ? "`" : ", `") + names[i] + "`";
  if (names.size() > kMost) out += " and " + std::to_string(names.size() - kMost) + " more";
  return out;
}

}  // namespace

CsvHeader read_csv_header(const std::string& path, const CsvLayout& layout) {
  FirstRows rows(path, layout);
  const std::vector<std::string> names = header_names(&rows, path);
  CsvHeader out{names.size(), {}};
  for (const std::string& wanted : layout.names) {
    const auto at = std::ranges::find(names, wanted);
    if (at == names.end() || std::find(at + 1, names.end(), wanted) != names.end()) {
      throw Error(Code::invalid_argument,
                  "csv: " + path + ": the header has " +
                      (at == names.end() ? "no column `" : "two columns `") + wanted +
                      "`; it has " + list_of(names));
    }
    out.fields.push_back(at - names.begin());
  }
  return out;
}

std::vector<CsvGuess> guess_csv_columns(const std::string& path, const CsvLayout& layout) {
  FirstRows rows(path, layout);
  const std::vector<std::string> names = header_names(&rows, path);
  std::vector<uint8_t> is_integer(names.size(), 1), is_float(names.size(), 1),
      has_value(names.size(), 0);
  std::vector<CsvField> fields;
  for (int64_t row = 0; row < kGuessedFrom && rows.next(&fields); ++row) {
    for (size_t i = 0; i < std::min(names.size(), fields.size()); ++i) {
      const std::string_view text = fields[i].text();
      if (text.empty() || text == layout.na_value) continue;
      int64_t whole = 0;
      float real = 0;
      has_value[i] = 1;
      is_integer[i] = is_integer[i] && parse_integer(text, &whole);
      is_float[i] = is_float[i] && parse_float(text, &real);
    }
  }
  std::vector<CsvGuess> out;
  for (size_t i = 0; i < names.size(); ++i) {
    const DType number = is_integer[i] ? DType::int64 : DType::float32;
    const bool is_number = has_value[i] && (is_integer[i] || is_float[i]);
    out.push_back({names[i], is_number ? number : DType::bytes});
  }
  return out;
}

}  // namespace penstock
