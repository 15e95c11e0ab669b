// Arrays in files: .npy, or bare numbers of a dtype that is given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace penstock {

// What is said about a file where it does not say so itself.
struct ArrayFileOptions {
  std::optional<DType> dtype;  // needed for bare numbers; of a .npy file it must agree
  std::vector<int64_t> shape{
      -1};  // bounded: sizes; -1: what is left (one of them); [-1] of a .npy file: its own
};

// The array's type without its entries. False when the file is not there. Throws Error:
// INVALID_ARGUMENT for what does not agree with the options, DATA_LOSS for a file that is cut.
bool array_file_type(const std::string& path, const ArrayFileOptions& options, DType* dtype,
                     Dims* dims);

// The array. Large ones are mapped, for as long as the process lives: what is cut off such a file
// meanwhile ends the process. Throws NOT_FOUND, and what array_file_type throws.
Tensor open_array_file(const std::string& path, const ArrayFileOptions& options);

// Stands for the file's content: the content itself of a small one, else size, time and samples.
std::string array_file_identity(const std::string& path);

}  // namespace penstock
