// Files that hold tables and models, read whole.
#pragma once

#include <string>

#include "data/charged.h"

namespace penstock {

// Counts a file's bytes and what is made of them against the memory budget.
struct ModelFile {
  Charge room;        // keep it as long as the bytes, or what is made of them
  std::string bytes;  // bounded: counted by room
};
// Throws RESOURCE_EXHAUSTED if the file does not fit in the memory budget or has more than 4 GiB,
// else what File throws.
ModelFile read_model_file(const std::string& path);

// "words.txt: No such file or directory" where there is none of that name; else nothing.
std::string missing_file(const std::string& path);

}  // namespace penstock
