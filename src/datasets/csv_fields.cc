#include "datasets/csv_fields.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace penstock {

bool mark_fields(const Record& record, const CsvMarks& marks, uint32_t* ends) {
  if (record.size >= UINT32_MAX) return false;
  const char* const text = record.data;
  const auto size = static_cast<uint32_t>(record.size);
  const size_t limit = marks.fields + (marks.exact ? 1 : 0);  // what is behind says nothing new
  size_t count = 1;
  ends[0] = UINT32_MAX;
  uint32_t at = 0;
#if defined(__SSE2__)
  const __m128i delimiter = _mm_set1_epi8(marks.delimiter);
  const __m128i quote = _mm_set1_epi8(marks.quotes ? '"' : marks.delimiter);
  for (; size - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    const __m128i cuts = _mm_cmpeq_epi8(bytes, delimiter);
    auto found = static_cast<unsigned>(_mm_movemask_epi8(cuts));
    if (marks.quotes && _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote)) != 0) return false;
    for (; found != 0; found &= found - 1)
      ends[count++] = at + static_cast<uint32_t>(std::countr_zero(found));
    if (count > limit) break;
  }
#endif
  for (; at < size && count <= limit; ++at) {
    if (marks.quotes && text[at] == '"') return false;
    if (text[at] == marks.delimiter) ends[count++] = at;
  }
  if (count <= limit) ends[count++] = size;
  return marks.exact ? count == limit : count > marks.fields;
}

namespace {

void split_plain(const Record& record, char delimiter, std::vector<CsvField>* out) {
  const char *begin = record.data, *const end = record.data + record.size;
  for (;;) {
    const char* const found = std::find(begin, end, delimiter);
    out->push_back({begin, found, nullptr});
    if (found == end) return;
    begin = found + 1;
  }
}

// Takes the field whose opening quote is at *at; leaves *at at the delimiter after it, or the end.
CsvField unquoted(char** at, char* end, char delimiter) {
  char* p = *at + 1;
  char* to = p;
  CsvField field{p, p, nullptr};
  while (p != end) {
    if (*p != '"') {
      *to++ = *p++;
    } else if (p + 1 != end && p[1] == '"') {
      *to++ = '"';
      p += 2;
    } else {
      break;
    }
  }
  field.end = to;
  if (p != end) ++p;
  if (p != end && *p != delimiter) {
    field.fault = "goes on behind its closing quote";
    while (p != end && *p != delimiter) ++p;
  }
  *at = p;
  return field;
}

void split_quoted(const Record& record, char delimiter, std::vector<CsvField>* out) {
  char* at = const_cast<char*>(record.data);  // a row is split once, by one thread
  char* const end = at + record.size;
  for (;;) {
    CsvField field{at, at, nullptr};
    if (at != end && *at == '"') {
      field = unquoted(&at, end, delimiter);
    } else {
      while (at != end && *at != delimiter) {
        if (*at++ == '"') field.fault = "holds a quote, but does not begin with one";
      }
      field.end = at;
    }
    out->push_back(field);
    if (at == end) return;
    ++at;  // the delimiter
  }
}

}  // namespace

void split_fields(const Record& record, const RowLayout& rows, std::vector<CsvField>* out) {
  out->clear();
  const auto size = static_cast<size_t>(record.size);
  if (rows.quotes && size > 0 && std::memchr(record.data, '"', size)) {
    split_quoted(record, rows.delimiter, out);
  } else {
    split_plain(record, rows.delimiter, out);
  }
}

}  // namespace penstock
