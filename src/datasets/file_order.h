// In which order a source gives its files.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/open.h"

namespace penstock {

// Indices 0 to n - 1 in order, or in the order that shuffle(none, seed) gives.
std::vector<size_t> file_order(size_t n, bool shuffle, uint64_t seed, const OpenContext& context);

}  // namespace penstock
