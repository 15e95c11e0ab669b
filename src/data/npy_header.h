// Headers of .npy files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/dtype.h"
#include "data/shape.h"

namespace penstock {

// An array file: rows along axis 0, in C order, of little-endian numbers.
struct NpyHeader {
  DType dtype = DType::float32;
  int64_t rows = 0;
  Dims row;
  int64_t bytes = 0;  // size of the header, and offset of the data
};

// Reading a header takes two steps: npy_header_bytes finds its length in the first kNpyPrefix
// bytes, parse_npy_header reads that many. Both throw DATA_LOSS if the file is not a .npy file,
// UNIMPLEMENTED for unsupported arrays (Fortran order, other byte order, structured or object
// dtypes, scalars).
inline constexpr int64_t kNpyPrefix = 12;
int64_t npy_header_bytes(std::string_view prefix);
NpyHeader parse_npy_header(std::string_view header);

}  // namespace penstock
