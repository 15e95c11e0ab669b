// The files that a function reads, found before it runs: so that they can be read ahead of it.
#pragma once

#include <optional>

#include "functions/function.h"

namespace penstock {

struct FileReads {
  FunctionPtr names;  // of the function's input: the names, a tuple
  FunctionPtr rest;   // of its input and, behind that, the bytes of each: what the function gives
  size_t count = 0;
};

// Nothing where the function reads no file, or not before anything that may fail, draws or takes
// long: then a row's errors stay what they are.
std::optional<FileReads> split_file_reads(const Function& function);

}  // namespace penstock
