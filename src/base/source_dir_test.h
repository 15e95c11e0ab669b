// Path of the checkout, for tests that read its files.
#pragma once

#include <string>

namespace penstock {

// Has no slash at its end. Only one object file contains it (tests/unit_main.cc), so that the
// compiler's cache serves every checkout.
std::string source_dir();

}  // namespace penstock
