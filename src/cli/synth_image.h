// Images that look like photographs to a JPEG codec.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "functions/kernels/image/jpeg.h"

namespace penstock {

// Returns packed RGB pixels: smooth noise of several sizes in luma and colour, objects with hard
// edges, fine texture in places and sensor noise. Depends on `random` and `size` (3 channels) only.
std::vector<uint8_t> synth_photo(RandomStream& random, ImageSize size);

// Returns a size distributed as in ImageNet: mostly 375x500.
ImageSize photo_size(RandomStream& random);

}  // namespace penstock
