// Rows of delimited text to typed columns: the hot part of csv.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/records.h"

namespace penstock {

struct CsvColumn {
  DType dtype = DType::bytes;
  bool required = true;
  bool is_optional = false;  // what is missing is an optional value without one
  Tensor fallback{};         // one entry, for what is missing
};

struct CsvLayout {
  RowLayout rows;
  std::vector<CsvColumn> columns;
  std::vector<std::string> names;  // of the columns in the header, which says what fields they are
  std::vector<int64_t> fields;     // which field each column is; empty: in order
  size_t least_fields = 0;         // of a row
  size_t most_fields = SIZE_MAX;
  std::string na_value;
  ReaderOptions reading;  // of the header
};

std::unique_ptr<RecordDecoder> make_csv_decoder(CsvLayout layout);

}  // namespace penstock
