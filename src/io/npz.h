// Archives of arrays, as written by numpy.savez.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/npy.h"
#include "io/record_reader.h"

namespace penstock {

struct NpzArray {
  std::string name;  // without ".npy"
  DType dtype = DType::float32;
  Dims row;
  int64_t row_bytes() const { return row.entries() * dtype_size(dtype); }
};

// Returns the arrays of an archive in its order. Throws like read_zip_members and parse_npy_header.
std::vector<NpzArray> read_npz_arrays(const std::string& path);

// Record i holds row i of each of `arrays`, one after the other. Errors: INVALID_ARGUMENT for an
// archive that lacks one of them or has a different one, and for arrays of different lengths;
// DATA_LOSS after the readable rows for an archive that is cut or damaged.
std::unique_ptr<RecordReader> open_npz(std::string path, const ReaderOptions& options,
                                       std::vector<NpzArray> arrays);

}  // namespace penstock
