// Archives of arrays, as numpy.savez writes them.
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

// The arrays of an archive in its order. Throws what read_zip_members and parse_npy_header throw.
std::vector<NpzArray> read_npz_arrays(const std::string& path);

// Record i holds row i of each of `arrays`, one behind the other. An archive without one of them,
// or where it is another, is INVALID_ARGUMENT, as are arrays of different lengths; one that is cut
// or damaged is DATA_LOSS behind the rows that could be read.
std::unique_ptr<RecordReader> open_npz(std::string path, const ReaderOptions& options,
                                       std::vector<NpzArray> arrays);

}  // namespace penstock
