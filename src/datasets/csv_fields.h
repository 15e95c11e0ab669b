// Where the fields of a row of delimited text end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/record_reader.h"

namespace penstock {

struct CsvMarks {
  char delimiter = ',';
  bool quotes = true;  // a '"' is none of the text's
  size_t fields = 0;   // wanted
  bool exact = true;   // and no more of them
};

inline constexpr size_t kFieldSlack = 16;

// ends[0] = -1; ends[i + 1]: where field i ends, counted from the row's first byte, so that field i
// begins at ends[i] + 1 in uint32 arithmetic. False, with any values, where the row has fewer
// fields than wanted or, `exact`, more; holds a quote; or is longer than offsets reach.
// `ends` has room for 1 + fields + kFieldSlack.
bool mark_fields(const Record& record, const CsvMarks& marks, uint32_t* ends);

// A field of a row, unquoted.
struct CsvField {
  const char* begin;
  const char* end;
  const char* fault;  // what is wrong with it, or null

  std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
};

// Overwrites `out` with the fields of a row. The doubled quotes of a quoted field are joined in
// place: split a row once.
void split_fields(const Record& record, const RowLayout& rows, std::vector<CsvField>* out);

}  // namespace penstock
