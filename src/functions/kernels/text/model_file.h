// Files that hold tables and models, read whole.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace penstock {

// Throws Error: NOT_FOUND when there is none, else what the system says.
std::string read_model_file(const std::string& path);

}  // namespace penstock
