// The PNG files that most are, decoded faster than libpng with zlib does it: 8 or 16 bits, grey or
// RGB with or without alpha, not interlaced, without a transparent colour.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/image_file.h"

namespace penstock {

struct PlainPng {
  ImageSize size;
  int depth = 8;
  ChargedVector<std::string_view> data;  // the compressed bytes, chunk by chunk
};

// False for every other file, and for one with something wrong about it: libpng says what.
bool read_plain_png(std::string_view file, PlainPng* png);

// `pixels` as decode_png gives them; 16 bits without `wide` are cut to 8, `wide` is for 16 bits
// alone. False when the data is not what it should be; `pixels` may hold anything then.
bool decode_plain_png(const PlainPng& png, bool wide, uint8_t* pixels);

// One row without its filter, 0 to 4: `raw` to `row`, `above` the row before (zeros at first). Of
// `raw` and `above` 8 bytes behind the row may be read. False for another filter.
bool unfilter_png_row(int filter, int pixel_bytes, int64_t pixels, const uint8_t* raw,
                      const uint8_t* above, uint8_t* row);

}  // namespace penstock
