// The types of tensor entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock {

enum class DType : uint8_t {
  boolean,
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  bytes,  // entries are BytesView
};
inline constexpr int kDTypeCount = 14;

// IEEE half and bfloat16 as bits; arithmetic on them uses float.
struct Float16 {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};

// An entry of dtype bytes: not owned; the buffer that holds the view keeps it alive.
struct BytesView {
  const char* data = nullptr;
  int64_t size = 0;
  std::string_view view() const { return {data, static_cast<size_t>(size)}; }
};

std::string_view dtype_name(DType dtype);                 // "int64", "bytes"
std::optional<DType> parse_dtype(std::string_view name);  // also "i64", "string"

// Returns the bytes of an entry.
inline int64_t dtype_size(DType dtype) {
  constexpr uint8_t kBytes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2,
                                           4, 8, 2, 2, 4, 8, sizeof(BytesView)};
  return kBytes[static_cast<size_t>(dtype)];
}

bool is_integer(DType dtype);  // signed or not; not bool
bool is_signed(DType dtype);   // signed integers
bool is_float(DType dtype);
inline bool is_number(DType dtype) { return is_integer(dtype) || is_float(dtype); }

float to_float(Float16 value);
float to_float(BFloat16 value);
Float16 to_float16(float value);    // round to nearest even
BFloat16 to_bfloat16(float value);  // round to nearest even

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::uint16;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr DType value = DType::uint32;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr DType value = DType::uint64;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<BytesView> {
  static constexpr DType value = DType::bytes;
};

template <typename T>
struct TypeTag {
  using Type = T;
};

// Calls f(TypeTag<T>{}) with the C++ type of `dtype`.
template <typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean: return f(TypeTag<bool>{});
    case DType::uint8: return f(TypeTag<uint8_t>{});
    case DType::uint16: return f(TypeTag<uint16_t>{});
    case DType::uint32: return f(TypeTag<uint32_t>{});
    case DType::uint64: return f(TypeTag<uint64_t>{});
    case DType::int8: return f(TypeTag<int8_t>{});
    case DType::int16: return f(TypeTag<int16_t>{});
    case DType::int32: return f(TypeTag<int32_t>{});
    case DType::int64: return f(TypeTag<int64_t>{});
    case DType::float16: return f(TypeTag<Float16>{});
    case DType::bfloat16: return f(TypeTag<BFloat16>{});
    case DType::float32: return f(TypeTag<float>{});
    case DType::float64: return f(TypeTag<double>{});
    case DType::bytes: break;
  }
  return f(TypeTag<BytesView>{});
}

}  // namespace penstock
