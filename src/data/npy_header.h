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
  int64_t bytes = 0;  // of the header: where the data begin
};

// Bytes that must be there to know the header's length, and to read it: 12 and then what
// npy_header_bytes says. Both throw DATA_LOSS for what is no .npy file, UNIMPLEMENTED for arrays
// that are not read (Fortran order, other byte order, structured or object dtypes, scalars).
inline constexpr int64_t kNpyPrefix = 12;
int64_t npy_header_bytes(std::string_view prefix);
NpyHeader parse_npy_header(std::string_view header);

}  // namespace penstock
