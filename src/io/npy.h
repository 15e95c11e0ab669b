// Headers of .npy files on the disk.
#pragma once

#include <string>

#include "data/npy_header.h"

namespace penstock {

// Errors: those of parse_npy_header, and of File; they name the path.
NpyHeader read_npy_header(const std::string& path);

}  // namespace penstock
