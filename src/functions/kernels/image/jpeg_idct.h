// From coefficients to samples: libjpeg's accurate integer inverse DCT, as its vector code computes
// it (16-bit sums wrap, results saturate). For x86 processors with vectors.
#pragma once

#include <cstdint>

namespace penstock {

// Coefficients stand in groups of four blocks side by side: row r of block b is at 32 * r + 8 * b.
constexpr int64_t kGroupBlocks = 4, kGroupRow = 32, kGroupValues = 8 * kGroupRow;
constexpr int64_t group_place(int64_t block) {
  return block / kGroupBlocks * kGroupValues + block % kGroupBlocks * 8;
}

struct BlockRow {
  const int16_t* groups;
  int64_t count;         // of groups
  const int16_t* quant;  // 64 factors in natural order
  uint8_t* samples;      // top left; eight rows of 32 samples for each group
  int64_t stride;
};
// False on machines where inverse_dct and jpeg_color.h do nothing.
bool inverse_dct_ready();
void inverse_dct(const BlockRow& row);

}  // namespace penstock
