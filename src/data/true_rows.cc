#include "data/true_rows.h"

#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/true_rows.cc"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

#ifndef PENSTOCK_SET_BITS
#define PENSTOCK_SET_BITS
namespace penstock {

static_assert(std::endian::native == std::endian::little && kTrueRowsSlack >= 8);

// The set bits of each byte, the lowest first.
using SetBits = std::array<std::array<uint8_t, 8>, 256>;
inline constexpr SetBits kSetBits = [] {
  SetBits out{};
  for (size_t byte = 0; byte < 256; ++byte) {
    size_t n = 0;
    for (uint8_t bit = 0; bit < 8; ++bit) {
      if ((byte >> bit) & 1) out[byte][n++] = bit;
    }
  }
  return out;
}();

}  // namespace penstock
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Eight flags become one byte, whose entry in a table of ours is what to store. Highway's Compress
// does the same on AVX2, but its table lies in a function: GCC 12 copies it to the stack for each
// vector, 7 ns a row where this takes 0.1.
int64_t true_rows_of(const bool* flags, int64_t count, int32_t* out) {
  const hn::CappedTag<int32_t, 8> rows;
  const hn::Rebind<uint8_t, decltype(rows)> bytes;
  int64_t kept = 0, i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, flags + i, sizeof eight);
    // Moves bit 0 of byte k to bit 56 + k.
    const auto set = static_cast<uint8_t>((eight * 0x0102040810204080) >> 56);
    const auto first = hn::Set(rows, static_cast<int32_t>(i));
    for (size_t lane = 0; lane < 8; lane += hn::Lanes(rows)) {
      const auto position = hn::PromoteTo(rows, hn::LoadU(bytes, &kSetBits[set][lane]));
      hn::StoreU(hn::Add(position, first), rows, out + kept + lane);
    }
    kept += std::popcount(set);
  }
  for (; i < count; ++i) {
    out[kept] = static_cast<int32_t>(i);
    kept += flags[i] ? 1 : 0;
  }
  return kept;
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock {
namespace {

HWY_EXPORT(true_rows_of);

}  // namespace

int64_t true_rows(const bool* flags, int64_t count, int32_t* out) {
  return HWY_DYNAMIC_DISPATCH(true_rows_of)(flags, count, out);
}

}  // namespace penstock
#endif  // HWY_ONCE
