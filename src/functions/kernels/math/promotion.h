// The dtype in which two dtypes meet.
#pragma once

#include <algorithm>
#include <optional>

#include "data/dtype.h"

namespace penstock {

// The wider of two of one kind; none for an integer with a float, int64 with uint64, or either with
// bool or bytes. Equal ones are their own.
inline std::optional<DType> promote(DType a, DType b) {
  if (a == b) return a;
  const auto wider = [&] { return dtype_size(a) >= dtype_size(b) ? a : b; };
  if (is_float(a) && is_float(b)) {
    return dtype_size(a) == dtype_size(b) ? DType::float32
                                          : wider();  // the halves hold not each other
  }
  if (!is_integer(a) || !is_integer(b)) return std::nullopt;
  if (is_signed(a) == is_signed(b)) return wider();
  const int64_t signed_size = dtype_size(is_signed(a) ? a : b);
  const int64_t unsigned_size = dtype_size(is_signed(a) ? b : a);
  const int64_t size = std::max(signed_size, 2 * unsigned_size);
  switch (size) {
    case 1: return DType::int8;
    case 2: return DType::int16;
    case 4: return DType::int32;
    case 8: return DType::int64;
    default: return std::nullopt;
  }
}

// What kernels compute in: halves go through float.
inline DType compute_dtype(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
}

// Calls f(TypeTag<T>{}) for the integers, float and double. REQUIRES one of these.
template <typename F>
decltype(auto) visit_number(DType dtype, F&& f) {
  switch (dtype) {
    case DType::uint8: return f(TypeTag<uint8_t>{});
    case DType::uint16: return f(TypeTag<uint16_t>{});
    case DType::uint32: return f(TypeTag<uint32_t>{});
    case DType::uint64: return f(TypeTag<uint64_t>{});
    case DType::int8: return f(TypeTag<int8_t>{});
    case DType::int16: return f(TypeTag<int16_t>{});
    case DType::int32: return f(TypeTag<int32_t>{});
    case DType::int64: return f(TypeTag<int64_t>{});
    case DType::float64: return f(TypeTag<double>{});
    default: return f(TypeTag<float>{});
  }
}

}  // namespace penstock
