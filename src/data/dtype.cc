#include "data/dtype.h"

#include <array>
#include <bit>

namespace penstock {
namespace {

struct Row {
  std::string_view name, short_name;
};
constexpr std::array<Row, kDTypeCount> kTable{{{"bool", "bool"},
                                               {"uint8", "u8"},
                                               {"uint16", "u16"},
                                               {"uint32", "u32"},
                                               {"uint64", "u64"},
                                               {"int8", "i8"},
                                               {"int16", "i16"},
                                               {"int32", "i32"},
                                               {"int64", "i64"},
                                               {"float16", "f16"},
                                               {"bfloat16", "bf16"},
                                               {"float32", "f32"},
                                               {"float64", "f64"},
                                               {"bytes", "string"}}};

const Row& row(DType dtype) { return kTable[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].name == name || kTable[i].short_name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool is_integer(DType dtype) { return dtype >= DType::uint8 && dtype <= DType::int64; }
bool is_signed(DType dtype) { return dtype >= DType::int8 && dtype <= DType::int64; }
bool is_float(DType dtype) { return dtype >= DType::float16 && dtype <= DType::float64; }

float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

BFloat16 to_bfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return {static_cast<uint16_t>(bits >> 16)};
}

float to_float(Float16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
  const uint32_t exponent = (value.bits >> 10) & 0x1fu;
  const uint32_t mantissa = value.bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float small = static_cast<float>(mantissa) * 5.9604644775390625e-8f;  // 2^-24
  return sign ? -small : small;
}

Float16 to_float16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  auto make = [sign](uint32_t rest) { return Float16{static_cast<uint16_t>(sign | rest)}; };
  if (magnitude > 0x7f800000u) return make(0x7e00u);
  if (magnitude >= 0x477ff000u) return make(0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {
    // Adding 0.5 moves the kept bits to the bottom of the mantissa; the adder rounds them.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return make(std::bit_cast<uint32_t>(shifted) - 0x3f000000u);
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return make((rounded - 0x38000000u) >> 13);
}

}  // namespace penstock
