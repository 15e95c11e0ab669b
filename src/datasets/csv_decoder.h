// Rows of delimited text to typed columns: the hot part of csv.
#pragma once

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
  std::vector<int64_t> fields;  // which field each column is, ascending; empty: in order
  bool exact = true;            // a row has no field besides the columns
  std::string na_value;
};

std::unique_ptr<RecordDecoder> make_csv_decoder(CsvLayout layout);

}  // namespace penstock
