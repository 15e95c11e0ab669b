#include "datasets/csv_fields.h"

#include <bit>

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

}  // namespace penstock
