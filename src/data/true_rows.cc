#include "data/true_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/true_rows.cc"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

int64_t true_rows_of(const bool* flags, int64_t count, int32_t* out) {
  const hn::ScalableTag<int32_t> rows;
  const hn::Rebind<uint8_t, decltype(rows)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(rows));
  static_assert(hn::MaxLanes(rows) <= kTrueRowsSlack);
  const auto* from = reinterpret_cast<const uint8_t*>(flags);
  int64_t kept = 0, i = 0;
  auto row = hn::Iota(rows, 0);
  for (; i + lanes <= count; i += lanes) {
    const auto flag = hn::PromoteTo(rows, hn::LoadU(bytes, from + i));
    const auto mask = hn::Ne(flag, hn::Zero(rows));
    // No CompressStore: Zen 4 takes hundreds of cycles to compress into memory.
    hn::StoreU(hn::Compress(row, mask), rows, out + kept);
    kept += static_cast<int64_t>(hn::CountTrue(rows, mask));
    row = hn::Add(row, hn::Set(rows, static_cast<int32_t>(lanes)));
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
