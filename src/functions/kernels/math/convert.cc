#include "functions/kernels/math/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/wide.h"

namespace penstock {
namespace {

template <typename To, typename From>
To convert_one(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Powers of two: both are exact as floats.
    constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
    constexpr To kHalf = std::numeric_limits<To>::max() / 2 + 1;
    constexpr From kHigh = static_cast<From>(kHalf) * 2;
    if (v >= kHigh) return std::numeric_limits<To>::max();
    if (v <= kLow) return std::numeric_limits<To>::min();
    return v == v ? static_cast<To>(v) : To{0};
  } else {
    return static_cast<To>(v);
  }
}

template <typename From, typename To>
PENSTOCK_WIDE void convert_array(const From* __restrict in, To* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = convert_one<To>(in[i]);
}

// As to_bfloat16, without branches, so that the loop becomes vector code.
PENSTOCK_WIDE void bfloat16_array(const float* __restrict in, BFloat16* __restrict out,
                                  int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(in[i]);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t quiet = (bits >> 16) | 0x40u;
    out[i].bits = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
  }
}
PENSTOCK_WIDE void float_array(const BFloat16* __restrict in, float* __restrict out,
                               int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = std::bit_cast<float>(static_cast<uint32_t>(in[i].bits) << 16);
}

bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

template <typename F>
void visit_plain(DType dtype, F&& f) {
  visit_dtype(dtype, [&]<typename T>(TypeTag<T> tag) {
    if constexpr (std::is_arithmetic_v<T>) f(tag);
  });
}

void halves_to_floats(DType from, const std::byte* in, float* out, int64_t count) {
  if (from == DType::float16) {
    for (int64_t i = 0; i < count; ++i) out[i] = to_float(reinterpret_cast<const Float16*>(in)[i]);
  } else {
    float_array(reinterpret_cast<const BFloat16*>(in), out, count);
  }
}

void floats_to_halves(const float* in, DType to, std::byte* out, int64_t count) {
  if (to == DType::float16) {
    for (int64_t i = 0; i < count; ++i) reinterpret_cast<Float16*>(out)[i] = to_float16(in[i]);
  } else {
    bfloat16_array(in, reinterpret_cast<BFloat16*>(out), count);
  }
}

}  // namespace

void convert_entries(DType from, const std::byte* in, DType to, std::byte* out, int64_t count) {
  PENSTOCK_DCHECK(from != DType::bytes && to != DType::bytes);
  if (count == 0) return;
  if (from == to) {
    std::memcpy(out, in, static_cast<size_t>(count * dtype_size(from)));
    return;
  }
  if (from == DType::float32 && is_half(to))
    return floats_to_halves(reinterpret_cast<const float*>(in), to, out, count);
  if (is_half(from) && to == DType::float32)
    return halves_to_floats(from, in, reinterpret_cast<float*>(out), count);
  if (is_half(from) || is_half(to)) {
    std::array<float, 512> floats;
    for (int64_t begin = 0; begin < count; begin += 512) {
      const int64_t n = std::min<int64_t>(512, count - begin);
      const std::byte* part = in + begin * dtype_size(from);
      std::byte* into = out + begin * dtype_size(to);
      auto* raw = reinterpret_cast<std::byte*>(floats.data());
      if (is_half(from)) {
        halves_to_floats(from, part, floats.data(), n);
      } else {
        convert_entries(from, part, DType::float32, raw, n);
      }
      if (is_half(to)) {
        floats_to_halves(floats.data(), to, into, n);
      } else {
        convert_entries(DType::float32, raw, to, into, n);
      }
    }
    return;
  }
  visit_plain(from, [&]<typename From>(TypeTag<From>) {
    visit_plain(to, [&]<typename To>(TypeTag<To>) {
      convert_array(reinterpret_cast<const From*>(in), reinterpret_cast<To*>(out), count);
    });
  });
}

Tensor converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (tensor.dtype() == DType::bytes || dtype == DType::bytes) {
    throw Error(Code::invalid_argument, "cast: bytes are no numbers");
  }
  Tensor out = Tensor::make(dtype, tensor.dims());
  convert_entries(tensor.dtype(), tensor.data(), dtype, out.mutable_data(), tensor.entries_count());
  return out;
}

}  // namespace penstock
