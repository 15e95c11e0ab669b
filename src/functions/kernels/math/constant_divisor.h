// Division by a divisor that stays: multiply-high and shifts instead of the divide instruction
// (Granlund and Montgomery, PLDI 1994).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/wide.h"

namespace penstock {

// Quotients of numerators below 2^31. REQUIRES 0 < d < 2^31.
class Divisor31 {
 public:
  explicit Divisor31(uint32_t d)
      : shift_(31 + static_cast<int>(std::bit_width(d - 1))),
        multiplier_((uint64_t{1} << shift_) / d + 1) {}
  uint32_t divide(uint32_t n) const { return static_cast<uint32_t>((n * multiplier_) >> shift_); }

 private:
  int shift_;
  uint64_t multiplier_;  // at most 2^31 + 1 or below 2^32: the product fits 64 bits
};

// Quotients of numerators below 2^63. REQUIRES 1 < d < 2^63.
class Divisor63 {
 public:
  explicit Divisor63(uint64_t d) : shift_(static_cast<int>(std::bit_width(d - 1)) - 1) {
    const auto power = static_cast<unsigned __int128>(1) << (64 + shift_);
    multiplier_ = static_cast<uint64_t>(power / d) + 1;
  }
  uint64_t divide(uint64_t n) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(n) * multiplier_) >> 64) >> shift_;
  }

 private:
  int shift_;
  uint64_t multiplier_;
};

// Quotients of any 64-bit numerators. REQUIRES d > 1.
class Divisor64 {
 public:
  explicit Divisor64(uint64_t d) : shift_(static_cast<int>(std::bit_width(d - 1)) - 1) {
    const auto rest = (static_cast<unsigned __int128>(1) << (shift_ + 1)) - d;
    multiplier_ = static_cast<uint64_t>((rest << 64) / d) + 1;
  }
  uint64_t divide(uint64_t n) const {
    const auto high =
        static_cast<uint64_t>((static_cast<unsigned __int128>(n) * multiplier_) >> 64);
    return (((n - high) >> 1) + high) >> shift_;
  }

 private:
  int shift_;
  uint64_t multiplier_;
};

template <typename T>
PENSTOCK_WIDE void shift_entries(const T* __restrict in, int shift, T* __restrict out,
                                 int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(in[i] >> shift);
}
template <typename T>
PENSTOCK_WIDE void mask_entries(const T* __restrict in, T mask, T* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(in[i] & mask);
}

// Floor quotients and remainders of integers by one divisor. REQUIRES d > 0.
template <typename T>
class ConstantDivisor {
 public:
  static constexpr bool kNarrow = sizeof(T) < 4 || std::is_same_v<T, int32_t>;
  static constexpr bool kFull = std::is_same_v<T, uint64_t>;
  using Engine =
      std::conditional_t<kNarrow, Divisor31, std::conditional_t<kFull, Divisor64, Divisor63>>;
  using Wide = std::conditional_t<kNarrow, uint32_t, uint64_t>;

  explicit ConstantDivisor(T d)
      : divisor_(d),
        power_(std::has_single_bit(static_cast<Wide>(d))),
        shift_(std::countr_zero(static_cast<Wide>(d))),
        engine_(static_cast<Wide>(d < 2 ? T{2} : d)) {}

  void quotients(const T* __restrict in, T* __restrict out, int64_t count) const {
    const int shift = shift_;
    if (power_) {
      return shift_entries(in, shift, out, count);
    }
    const Engine engine = engine_;
    for (int64_t i = 0; i < count; ++i) out[i] = quotient(engine, in[i]);
  }
  void remainders(const T* __restrict in, T* __restrict out, int64_t count) const {
    const T d = divisor_;
    if (power_) {
      const T mask = static_cast<T>(d - 1);
      return mask_entries(in, mask, out, count);
    }
    const Engine engine = engine_;
    for (int64_t i = 0; i < count; ++i) {
      const auto q = static_cast<Wide>(quotient(engine, in[i]));
      out[i] = static_cast<T>(static_cast<Wide>(in[i]) - q * static_cast<Wide>(d));
    }
  }

 private:
  // Below zero: ~floor(~n / d), whose numerator is not negative.
  static T quotient(const Engine& engine, T n) {
    if constexpr (std::is_signed_v<T>) {
      using Signed = std::make_signed_t<Wide>;
      const auto sign = static_cast<Wide>(static_cast<Signed>(n) >> (sizeof(Wide) * 8 - 1));
      return static_cast<T>(engine.divide(static_cast<Wide>(static_cast<Signed>(n)) ^ sign) ^ sign);
    } else {
      return static_cast<T>(engine.divide(n));
    }
  }

  T divisor_;
  bool power_;
  int shift_;
  Engine engine_;
};

}  // namespace penstock
