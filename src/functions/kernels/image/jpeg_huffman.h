// Huffman codes of a JPEG scan, laid out so that one look decodes as many symbols as fit in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock {

constexpr int kLookBits = 10;
constexpr int64_t kLooks = int64_t{1} << kLookBits;
// Added to a coefficient's place where the block ends before its last place.
constexpr int kBlockEnd = 128;
// The advance of a look that decodes nothing: the code, or the value behind it, is too long.
constexpr int kNoAdvance = 255;

// A code as its file gives it, and the way to decode what no table holds.
struct HuffmanCode {
  std::array<uint8_t, 17> counts{};
  std::array<uint8_t, 256> values{};
  // Of each length: the largest code (-1 for none), and what leads from a code to its value.
  std::array<int32_t, 17> most{};
  std::array<int32_t, 17> offset{};
  // For the next kLookBits bits: value << 8 | length of the code, 0 when it is longer.
  std::array<uint16_t, kLooks> looks{};

  // False when the counts and values are no code.
  bool build(const uint8_t* file_counts, const uint8_t* file_values, bool of_dc);
  bool is(const uint8_t* file_counts, const uint8_t* file_values) const;
  // value << 8 | length of the code that `bits` begin with, from the highest on; 0 for no code.
  uint32_t symbol(uint64_t bits) const {
    if (const uint32_t look = looks[bits >> (64 - kLookBits)]) return look;
    for (int length = kLookBits + 1; length <= 16; ++length) {
      const auto code = static_cast<int32_t>(bits >> (64 - length));
      if (code > most[static_cast<size_t>(length)]) continue;
      const auto at = static_cast<size_t>(code + offset[static_cast<size_t>(length)]) & 255;
      return static_cast<uint32_t>(values[at]) << 8 | static_cast<uint32_t>(length);
    }
    return 0;
  }
};

// What the AC symbols in a look do, up to two coefficients and the end of the block:
//   bits 0 to 7    how many bits they have
//   8 to 15        how far the place advances
//   16 to 23, 24 to 31  from the place to those of the two coefficients
//   32 to 47, 48 to 63  the coefficients; where there is none, a 0 for a place not yet reached
static_assert(5 * kLookBits <= 56);
using AcLook = uint64_t;

constexpr int kMostSkipBits = 18;
static_assert(3 * kMostSkipBits <= 56);

struct AcCode {
  HuffmanCode code;
  std::array<AcLook, kLooks> looks{};
  // For coefficients that nobody wants: bits | advance << 8 of the symbols whose codes are in a
  // look.
  std::array<uint16_t, kLooks> skips{};

  bool build(const uint8_t* file_counts, const uint8_t* file_values);
};

// The value of `size` bits that follow a code, as the standard extends them.
inline int32_t extended(uint64_t bits, int size) {
  if (size == 0) return 0;
  const auto raw = static_cast<int32_t>(bits >> (64 - size));
  return raw < (1 << (size - 1)) ? raw - (1 << size) + 1 : raw;
}

}  // namespace penstock
