// Header lines of csv files, and columns that are known by their names.
#pragma once

#include <string>
#include <vector>

#include "datasets/csv_decoder.h"

namespace penstock {

struct CsvHeader {
  size_t count = 0;             // fields of the header, and so of each row
  std::vector<int64_t> fields;  // which of them each of layout.names is
};

// Reads the header of a file. Throws INVALID_ARGUMENT where a name is not in it, or is there twice;
// else what reading the file throws.
CsvHeader read_csv_header(const std::string& path, const CsvLayout& layout);

struct CsvGuess {
  std::string name;
  DType dtype;
};
// The names in the header and, from the first rows, the narrowest of int64, float32 and bytes that
// all values of the column fit. A column without values is bytes.
std::vector<CsvGuess> guess_csv_columns(const std::string& path, const CsvLayout& layout);

}  // namespace penstock
