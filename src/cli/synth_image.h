// Images that look like photographs to a JPEG codec.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "functions/kernels/image/jpeg.h"

namespace penstock {

// Packed RGB pixels: smooth noise of several sizes in luma and colour, objects with hard edges,
// fine texture in places and sensor noise. A function of `random` and `size` (3 channels) alone.
std::vector<uint8_t> synth_photo(RandomStream& random, ImageSize size);

// Sizes as ImageNet has them: mostly 375x500.
ImageSize photo_size(RandomStream& random);

}  // namespace penstock
