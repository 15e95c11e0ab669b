// JPEG encoding with libjpeg-turbo, baseline or progressive.
#pragma once

#include <cstdint>
#include <string>

#include "functions/kernels/image/jpeg.h"

namespace penstock {

struct JpegEncoding {
  int quality = 95;        // 1 to 100
  int chroma_columns = 2;  // luma columns for one chroma column: 1 or 2
  int chroma_rows = 2;     // luma rows for one chroma row: 1 or 2
  bool progressive = false;
  bool optimize = false;  // Huffman tables made for this picture
  int restart_rows = 0;   // block rows between restart markers, 0 for none
};

// Encodes packed uint8 [height, width, channels] pixels, grey (1) or RGB (3), sides 1 to 65500.
// Thread-safe. Errors: INVALID_ARGUMENT for sizes or options out of range.
std::string encode_jpeg(const uint8_t* pixels, ImageSize size, const JpegEncoding& encoding);

// Chroma halved both ways (4:2:0) or kept (4:4:4).
std::string encode_jpeg(const uint8_t* pixels, ImageSize size, int quality, bool chroma_420);

}  // namespace penstock
