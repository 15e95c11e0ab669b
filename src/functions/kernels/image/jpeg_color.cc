#include "functions/kernels/image/jpeg_color.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions/kernels/image/jpeg_color.cc"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
// Nobody calls it: ScanDecoder leaves everything to libjpeg.
void convert_row(const ColorRow&) {}
#else
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<int16_t>;
using DU16 = hn::ScalableTag<uint16_t>;
using D8 = hn::ScalableTag<uint8_t>;
using V16 = hn::Vec<D16>;

// What chroma adds to luma: libjpeg's tables (x * factor * 2^16 + 2^15) >> 16 in 16-bit arithmetic.
struct Shift {
  V16 red, green, blue;
};
HWY_INLINE Shift shift_of(V16 blue, V16 red) {
  const D16 d;
  const DU16 du;
  const auto rounded = [d](V16 x, int16_t factor) HWY_ATTR {
    const V16 high = hn::MulHigh(hn::Add(x, x), hn::Set(d, factor));
    return hn::ShiftRight<1>(hn::Add(high, hn::Set(d, 1)));
  };
  const V16 cb = hn::Sub(blue, hn::Set(d, 128)), cr = hn::Sub(red, hn::Set(d, 128));
  Shift shift;
  shift.red = hn::Add(cr, rounded(cr, 26345));                 // 1.40200
  shift.blue = hn::Add(hn::Add(cb, cb), rounded(cb, -14942));  // 1.77200
  // -0.34414 cb - 0.71414 cr, the second as 0.28586 cr - cr. Both products are even, so that half
  // their low words' sum is exact.
  const V16 f1 = hn::Set(d, -22554), f2 = hn::Set(d, 18734);
  const auto low =
      hn::AverageRound(hn::BitCast(du, hn::Mul(cb, f1)), hn::BitCast(du, hn::Mul(cr, f2)));
  const auto carry = hn::ShiftRight<14>(hn::Add(hn::ShiftRight<1>(low), hn::Set(du, 8192)));
  const V16 high = hn::Add(hn::MulHigh(cb, f1), hn::MulHigh(cr, f2));
  shift.green = hn::Sub(hn::Add(high, hn::BitCast(d, carry)), cr);
  return shift;
}

HWY_INLINE V16 level(V16 luma, V16 shift) {
  const D16 d;
  return hn::Min(hn::Max(hn::Add(luma, shift), hn::Zero(d)), hn::Set(d, 255));
}

// Stores 2 N pixels, of which these are those at even and at odd places.
HWY_INLINE void store(V16 even_luma, V16 odd_luma, const Shift& even, const Shift& odd,
                      uint8_t* to) {
  const D8 d8;
  const auto pack = [d8](V16 a, V16 b)
                        HWY_ATTR { return hn::BitCast(d8, hn::Or(a, hn::ShiftLeft<8>(b))); };
  hn::StoreInterleaved3(pack(level(even_luma, even.red), level(odd_luma, odd.red)),
                        pack(level(even_luma, even.green), level(odd_luma, odd.green)),
                        pack(level(even_luma, even.blue), level(odd_luma, odd.blue)), d8, to);
}

HWY_INLINE void load_pairs(const uint8_t* from, V16& even, V16& odd) {
  const D16 d;
  const DU16 du;
  const D8 d8;
  const auto both = hn::BitCast(du, hn::LoadU(d8, from));
  even = hn::BitCast(d, hn::And(both, hn::Set(du, 255)));
  odd = hn::BitCast(d, hn::ShiftRight<8>(both));
}

HWY_INLINE V16 load(const uint8_t* from) {
  const D16 d;
  const hn::Rebind<uint8_t, D16> bytes;
  return hn::PromoteTo(d, hn::LoadU(bytes, from));
}

// The samples between those at `at`: three parts of the nearer, one of the farther.
template <bool kRows>
HWY_INLINE void between(const uint8_t* near, const uint8_t* next, int64_t at, V16& even, V16& odd) {
  const D16 d;
  const auto column = [&](int64_t i) HWY_ATTR {
    const V16 x = load(near + i);
    if constexpr (!kRows) return x;
    return hn::Add(hn::Add(x, hn::Add(x, x)), load(next + i));
  };
  const V16 here = column(at);
  const V16 thrice = hn::Add(here, hn::Add(here, here));
  const V16 left = hn::Add(thrice, column(at - 1)), right = hn::Add(thrice, column(at + 1));
  if constexpr (kRows) {
    even = hn::ShiftRight<4>(hn::Add(left, hn::Set(d, 8)));
    odd = hn::ShiftRight<4>(hn::Add(right, hn::Set(d, 7)));
  } else {
    even = hn::ShiftRight<2>(hn::Add(left, hn::Set(d, 1)));
    odd = hn::ShiftRight<2>(hn::Add(right, hn::Set(d, 2)));
  }
}

template <bool kRows>
HWY_INLINE void halved_row(const ColorRow& row) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D16()));
  for (int64_t i = 0; 2 * i < row.width; i += lanes) {
    V16 even_blue, odd_blue, even_red, odd_red, even_luma, odd_luma;
    between<kRows>(row.blue, row.blue_next, i, even_blue, odd_blue);
    between<kRows>(row.red, row.red_next, i, even_red, odd_red);
    load_pairs(row.luma + 2 * i, even_luma, odd_luma);
    store(even_luma, odd_luma, shift_of(even_blue, even_red), shift_of(odd_blue, odd_red),
          row.rgb + 6 * i);
  }
}

void convert_row(const ColorRow& row) {
  if (row.halved && row.rows_halved) return halved_row<true>(row);
  if (row.halved) return halved_row<false>(row);
  const auto lanes = 2 * static_cast<int64_t>(hn::Lanes(D16()));
  for (int64_t x = 0; x < row.width; x += lanes) {
    V16 even_blue, odd_blue, even_red, odd_red, even_luma, odd_luma;
    load_pairs(row.luma + x, even_luma, odd_luma);
    load_pairs(row.blue + x, even_blue, odd_blue);
    load_pairs(row.red + x, even_red, odd_red);
    store(even_luma, odd_luma, shift_of(even_blue, even_red), shift_of(odd_blue, odd_red),
          row.rgb + 3 * x);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace penstock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock {

HWY_EXPORT(convert_row);

void color_row(const ColorRow& row) { HWY_DYNAMIC_DISPATCH(convert_row)(row); }

void spread_grey(const uint8_t* grey, int64_t width, uint8_t* rgb) {
  for (int64_t x = 0; x < width; ++x) rgb[3 * x] = rgb[3 * x + 1] = rgb[3 * x + 2] = grey[x];
}

}  // namespace penstock
#endif  // HWY_ONCE
