#include "functions/kernels/image/jpeg_idct.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions/kernels/image/jpeg_idct.cc"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || !HWY_ARCH_X86
bool has_vectors() { return false; }
void block_row(const BlockRow&) {}
#else
namespace hn = hwy::HWY_NAMESPACE;

bool has_vectors() { return true; }

constexpr int kConstantBits = 13, kPassBits = 2;

// One dimension of the transform: eight vectors of 16-bit values in place, all lanes alike. What
// is wide is in two halves, of which each 128 bits hold those lanes that interleaving takes.
template <int kShift, class D>
HWY_INLINE void transform(D d, hn::Vec<D> (&v)[8]) {
  const hn::RepartitionToWide<D> wide;
  using V = hn::Vec<D>;
  using W = hn::Vec<decltype(wide)>;
  struct Halves {
    W low, high;
  };
  const auto add = [](Halves a, Halves b)
                       HWY_ATTR { return Halves{hn::Add(a.low, b.low), hn::Add(a.high, b.high)}; };
  const auto sub = [](Halves a, Halves b)
                       HWY_ATTR { return Halves{hn::Sub(a.low, b.low), hn::Sub(a.high, b.high)}; };
  const auto zip = [d](V a, V b) HWY_ATTR {
    return Halves{hn::BitCast(hn::RepartitionToWide<D>(), hn::InterleaveLower(d, a, b)),
                  hn::BitCast(hn::RepartitionToWide<D>(), hn::InterleaveUpper(d, a, b))};
  };
  // a * of_first + b * of_second of a zip of a and b.
  const auto weigh = [d, wide](Halves ab, int16_t of_first, int16_t of_second) HWY_ATTR {
    const auto both =
        static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint16_t>(of_second)) << 16 |
                             static_cast<uint16_t>(of_first));
    const V factors = hn::BitCast(d, hn::Set(wide, both));
    W unused = hn::Zero(wide);
    return Halves{hn::ReorderWidenMulAccumulate(wide, hn::BitCast(d, ab.low), factors,
                                                hn::Zero(wide), unused),
                  hn::ReorderWidenMulAccumulate(wide, hn::BitCast(d, ab.high), factors,
                                                hn::Zero(wide), unused)};
  };
  const auto half = hn::Set(wide, 1 << (kShift - 1));
  const auto scaled = [&](V x) HWY_ATTR {
    const Halves up = zip(hn::Zero(d), x);
    return Halves{hn::Add(hn::ShiftRight<16 - kConstantBits>(up.low), half),
                  hn::Add(hn::ShiftRight<16 - kConstantBits>(up.high), half)};
  };

  const Halves in26 = zip(v[2], v[6]);
  const Halves even2 = weigh(in26, 4433, 4433 - 15137);  // 0.541196100, 1.847759065
  const Halves even3 = weigh(in26, 4433 + 6270, 4433);   // 0.765366865
  const Halves even0 = scaled(hn::Add(v[0], v[4])), even1 = scaled(hn::Sub(v[0], v[4]));
  const Halves a0 = add(even0, even3), a3 = sub(even0, even3);
  const Halves a1 = add(even1, even2), a2 = sub(even1, even2);

  const Halves sums = zip(hn::Add(v[7], v[3]), hn::Add(v[5], v[1]));
  const Halves z3 = weigh(sums, 9633 - 16069, 9633);  // 1.175875602, 1.961570560
  const Halves z4 = weigh(sums, 9633, 9633 - 3196);   // 0.390180644
  const Halves in71 = zip(v[7], v[1]), in53 = zip(v[5], v[3]);
  const Halves b0 = add(weigh(in71, 2446 - 7373, -7373), z3);     // 0.298631336, 0.899976223
  const Halves b3 = add(weigh(in71, -7373, 12299 - 7373), z4);    // 1.501321110
  const Halves b1 = add(weigh(in53, 16819 - 20995, -20995), z4);  // 2.053119869, 2.562915447
  const Halves b2 = add(weigh(in53, -20995, 25172 - 20995), z3);  // 3.072711026

  const auto narrow = [d](Halves x) HWY_ATTR {
    return hn::ReorderDemote2To(d, hn::ShiftRight<kShift>(x.low), hn::ShiftRight<kShift>(x.high));
  };
  v[0] = narrow(add(a0, b3));
  v[7] = narrow(sub(a0, b3));
  v[1] = narrow(add(a1, b2));
  v[6] = narrow(sub(a1, b2));
  v[2] = narrow(add(a2, b1));
  v[5] = narrow(sub(a2, b1));
  v[3] = narrow(add(a3, b0));
  v[4] = narrow(sub(a3, b0));
}

// Of each block, whose rows are eight lanes.
template <class D>
HWY_INLINE void transpose(D d, hn::Vec<D> (&v)[8]) {
  using V = hn::Vec<D>;
  const auto low = [d](V a, V b) HWY_ATTR { return hn::InterleaveLower(d, a, b); };
  const auto high = [d](V a, V b) HWY_ATTR { return hn::InterleaveUpper(d, a, b); };
  const V a0 = low(v[0], v[4]), a1 = high(v[0], v[4]), a2 = low(v[2], v[6]), a3 = high(v[2], v[6]);
  const V a4 = low(v[1], v[5]), a5 = high(v[1], v[5]), a6 = low(v[3], v[7]), a7 = high(v[3], v[7]);
  const V e0 = low(a0, a2), e1 = high(a0, a2), e2 = low(a1, a3), e3 = high(a1, a3);
  const V o0 = low(a4, a6), o1 = high(a4, a6), o2 = low(a5, a7), o3 = high(a5, a7);
  v[0] = low(e0, o0);
  v[1] = high(e0, o0);
  v[2] = low(e1, o1);
  v[3] = high(e1, o1);
  v[4] = low(e2, o2);
  v[5] = high(e2, o2);
  v[6] = low(e3, o3);
  v[7] = high(e3, o3);
}

// As many blocks side by side as the vectors of D have room for. False when they must be done one
// by one, for what libjpeg's shortcut of a block without lower rows makes of absurd values.
template <class D>
HWY_INLINE bool some_blocks(D d, const int16_t* from, const int16_t* quant, uint8_t* to,
                            int64_t stride) {
  using V = hn::Vec<D>;
  const hn::FixedTag<int16_t, 8> one;
  V v[8];
  for (int i = 0; i < 8; ++i) v[i] = hn::LoadU(d, from + kGroupRow * i);
  const V below =
      hn::Or(hn::Or(hn::Or(v[1], v[2]), hn::Or(v[3], v[4])), hn::Or(hn::Or(v[5], v[6]), v[7]));
  const bool flat = hn::AllTrue(d, hn::Eq(below, hn::Zero(d)));
  for (int i = 0; i < (flat ? 1 : 8); ++i) v[i] = hn::Mul(v[i], hn::LoadDup128(d, quant + 8 * i));
  if (flat) {
    v[0] = hn::ShiftLeft<kPassBits>(v[0]);
    for (int i = 1; i < 8; ++i) v[i] = v[0];
  } else {
    const auto above = hn::Gt(v[0], hn::Set(d, 8191)),
               below_least = hn::Lt(v[0], hn::Set(d, -8191));
    const bool plain = hn::AllFalse(d, hn::Or(above, below_least));
    if (hn::Lanes(d) > hn::Lanes(one) && !plain) return false;
    transform<kConstantBits - kPassBits>(d, v);
  }
  transpose(d, v);
  transform<kConstantBits + kPassBits + 3>(d, v);
  transpose(d, v);
  const hn::Rebind<int8_t, D> bytes;
  const auto middle = hn::Set(bytes, static_cast<int8_t>(-128));
  for (int i = 0; i < 8; ++i) {
    hn::StoreU(hn::Xor(hn::DemoteTo(bytes, v[i]), middle), bytes,
               reinterpret_cast<int8_t*>(to + i * stride));
  }
  return true;
}

void block_row(const BlockRow& row) {
  const hn::CappedTag<int16_t, kGroupRow> d;
  const hn::FixedTag<int16_t, 8> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t at = 0; at < row.count * kGroupRow; at += lanes) {
    const int16_t* from = row.groups + at / kGroupRow * kGroupValues + at % kGroupRow;
    uint8_t* to = row.samples + at;
    if (some_blocks(d, from, row.quant, to, row.stride)) continue;
    for (int64_t i = 0; i < lanes; i += 8)
      some_blocks(one, from + i, row.quant, to + i, row.stride);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace penstock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock {

HWY_EXPORT(has_vectors);
HWY_EXPORT(block_row);

bool inverse_dct_ready() { return HWY_DYNAMIC_DISPATCH(has_vectors)(); }
void inverse_dct(const BlockRow& row) { HWY_DYNAMIC_DISPATCH(block_row)(row); }

}  // namespace penstock
#endif  // HWY_ONCE
