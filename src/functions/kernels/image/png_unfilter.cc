// The five filters of PNG rows. A pixel needs the one before it, so that only its own bytes can be
// worked on at once: in one register.
#include <cstdlib>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/wide.h"
#include "functions/kernels/image/png_plain.h"

namespace penstock {
namespace {

PENSTOCK_WIDE void unfilter_up(int64_t bytes, const uint8_t* __restrict raw,
                               const uint8_t* __restrict above, uint8_t* __restrict row) {
  for (int64_t i = 0; i < bytes; ++i) row[i] = static_cast<uint8_t>(raw[i] + above[i]);
}

// What of the neighbours left (a), above (b) and above left (c) is nearest to a + b - c.
int paeth(int a, int b, int c) {
  const int to_a = std::abs(b - c), to_b = std::abs(a - c), to_c = std::abs(a + b - 2 * c);
  if (to_a <= to_b && to_a <= to_c) return a;
  return to_b <= to_c ? b : c;
}

void unfilter_bytes(int filter, int pixel_bytes, int64_t bytes, const uint8_t* raw,
                    const uint8_t* above, uint8_t* row) {
  for (int64_t i = 0; i < bytes; ++i) {
    const bool first = i < pixel_bytes;
    const int a = first ? 0 : row[i - pixel_bytes], c = first ? 0 : above[i - pixel_bytes];
    const int b = above[i];
    const int guess = filter == 1 ? a : filter == 3 ? (a + b) / 2 : paeth(a, b, c);
    row[i] = static_cast<uint8_t>(raw[i] + guess);
  }
}

#if defined(__SSE2__)

template <int kBytes>
__m128i load(const uint8_t* from) {
  if constexpr (kBytes > 4) return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  int32_t bits;
  std::memcpy(&bits, from, 4);
  return _mm_cvtsi32_si128(bits);
}

// Bytes behind the pixel may be written unless it is the last one: the next pixel goes there.
template <int kBytes>
void store(__m128i value, bool last, uint8_t* to) {
  alignas(16) uint8_t bytes[16];
  if (last) {
    _mm_store_si128(reinterpret_cast<__m128i*>(bytes), value);
    std::memcpy(to, bytes, kBytes);
  } else if constexpr (kBytes > 4) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), value);
  } else {
    const int32_t bits = _mm_cvtsi128_si32(value);
    std::memcpy(to, &bits, 4);
  }
}

template <int kBytes>
void unfilter_sub(int64_t pixels, const uint8_t* raw, uint8_t* row) {
  __m128i a = _mm_setzero_si128();
  for (int64_t i = 0; i < pixels; ++i, raw += kBytes, row += kBytes) {
    a = _mm_add_epi8(a, load<kBytes>(raw));
    store<kBytes>(a, i + 1 == pixels, row);
  }
}

template <int kBytes>
void unfilter_average(int64_t pixels, const uint8_t* raw, const uint8_t* above, uint8_t* row) {
  __m128i a = _mm_setzero_si128();
  const __m128i one = _mm_set1_epi8(1);
  for (int64_t i = 0; i < pixels; ++i, raw += kBytes, above += kBytes, row += kBytes) {
    const __m128i b = load<kBytes>(above);
    // The instruction rounds up.
    const __m128i odd = _mm_and_si128(_mm_xor_si128(a, b), one);
    a = _mm_add_epi8(load<kBytes>(raw), _mm_sub_epi8(_mm_avg_epu8(a, b), odd));
    store<kBytes>(a, i + 1 == pixels, row);
  }
}

__m128i absolute(__m128i x) { return _mm_max_epi16(x, _mm_sub_epi16(_mm_setzero_si128(), x)); }
__m128i choose(__m128i mask, __m128i yes, __m128i no) {
  return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

template <int kBytes>
void unfilter_paeth(int64_t pixels, const uint8_t* raw, const uint8_t* above, uint8_t* row) {
  const __m128i zero = _mm_setzero_si128();
  const __m128i low = _mm_set1_epi16(0xff);
  __m128i a = zero, c = zero;  // 16 bits a value
  for (int64_t i = 0; i < pixels; ++i, raw += kBytes, above += kBytes, row += kBytes) {
    const __m128i b = _mm_unpacklo_epi8(load<kBytes>(above), zero);
    const __m128i by_a = _mm_sub_epi16(b, c), by_b = _mm_sub_epi16(a, c);
    const __m128i to_a = absolute(by_a), to_b = absolute(by_b);
    const __m128i to_c = absolute(_mm_add_epi16(by_a, by_b));
    const __m128i least = _mm_min_epi16(to_c, _mm_min_epi16(to_a, to_b));
    const __m128i guess =
        choose(_mm_cmpeq_epi16(least, to_a), a, choose(_mm_cmpeq_epi16(least, to_b), b, c));
    a = _mm_and_si128(_mm_add_epi16(_mm_unpacklo_epi8(load<kBytes>(raw), zero), guess), low);
    c = b;
    store<kBytes>(_mm_packus_epi16(a, a), i + 1 == pixels, row);
  }
}

template <int kBytes>
void unfilter_pixels(int filter, int64_t pixels, const uint8_t* raw, const uint8_t* above,
                     uint8_t* row) {
  if (filter == 1) return unfilter_sub<kBytes>(pixels, raw, row);
  if (filter == 3) return unfilter_average<kBytes>(pixels, raw, above, row);
  unfilter_paeth<kBytes>(pixels, raw, above, row);
}

#endif

}  // namespace

bool unfilter_png_row(int filter, int pixel_bytes, int64_t pixels, const uint8_t* raw,
                      const uint8_t* above, uint8_t* row) {
  const int64_t bytes = pixels * pixel_bytes;
  switch (filter) {
    case 0: std::memcpy(row, raw, static_cast<size_t>(bytes)); return true;
    case 2: unfilter_up(bytes, raw, above, row); return true;
    case 1:
    case 3:
    case 4: break;
    default: return false;
  }
#if defined(__SSE2__)
  switch (pixel_bytes) {
    case 3: unfilter_pixels<3>(filter, pixels, raw, above, row); return true;
    case 4: unfilter_pixels<4>(filter, pixels, raw, above, row); return true;
    case 6: unfilter_pixels<6>(filter, pixels, raw, above, row); return true;
    case 8: unfilter_pixels<8>(filter, pixels, raw, above, row); return true;
    default: break;
  }
#endif
  unfilter_bytes(filter, pixel_bytes, bytes, raw, above, row);
  return true;
}

}  // namespace penstock
