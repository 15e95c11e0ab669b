// Files that hold tables and models, read whole.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace penstock {

// Throws NOT_FOUND if there is none, RESOURCE_EXHAUSTED beyond 4 GiB, else what open_regular
// throws.
std::string read_model_file(const std::string& path);

// "words.txt: No such file or directory" where there is none of that name; else nothing.
std::string missing_file(const std::string& path);

}  // namespace penstock
