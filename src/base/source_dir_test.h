// Where the checkout is, for tests that read its files.
#pragma once

#include <string>

namespace penstock {

// Without a slash at its end. Only one object file knows it (tests/unit_main.cc), so that the
// compiler's cache serves every checkout.
std::string source_dir();

}  // namespace penstock
