// Which way up a picture is: the orientation that cameras write into a file.
#pragma once

#include <cstdint>
#include <string_view>

#include "functions/kernels/image/pixel_sink.h"

namespace penstock {

// 1 (as stored) to 8 as the EXIF standard numbers them, from the file's headers; 1 for what has no
// orientation or a damaged one. JPEG, PNG and WebP.
int exif_orientation(std::string_view file);

// From 5 on height and width change places.
ImageSize upright_size(ImageSize stored, int orientation);
// `stored` pixels of `pixel_bytes` the way up that they are to be seen.
void turn_upright(const uint8_t* stored, ImageSize size, int64_t pixel_bytes, int orientation,
                  uint8_t* to);

}  // namespace penstock
