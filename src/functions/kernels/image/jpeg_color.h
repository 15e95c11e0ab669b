// From the components of a JPEG file to rows of RGB: libjpeg's fancy upsampling and its conversion,
// in one pass.
#pragma once

#include <cstdint>

namespace penstock {

// One output row. All pointers may be read up to kColorRoom bytes behind what is named, and chroma
// one sample before; samples outside the picture are those at its border.
constexpr int64_t kColorRoom = 64;
struct ColorRow {
  const uint8_t* luma;
  // The row of samples at this row and, when rows are halved too, the one nearest but one.
  const uint8_t *blue, *blue_next, *red, *red_next;
  int64_t width;  // pixels
  bool halved;    // chroma has half as many columns; the first pixel is at an even column
  bool rows_halved;
  uint8_t* rgb;  // with room for kColorRoom pixels more
};
void color_row(const ColorRow& row);

// Grey to RGB.
void spread_grey(const uint8_t* grey, int64_t width, uint8_t* rgb);

}  // namespace penstock
