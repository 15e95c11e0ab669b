// Headers of .npy files on disk.
#pragma once

#include <string>

#include "data/npy_header.h"

namespace penstock {

// Throws like parse_npy_header and File; the message names the path.
NpyHeader read_npy_header(const std::string& path);

}  // namespace penstock
