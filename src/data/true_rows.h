// Rows that a filter keeps.
#pragma once

#include <cstdint>

namespace penstock {

// Entries more that the output of true_rows must have room for.
constexpr int64_t kTrueRowsSlack = 64;

// Writes the indices of the true flags among `count` to `out`, which has room for `count` +
// kTrueRowsSlack; entries behind the last index are left in any state. How many there are.
int64_t true_rows(const bool* flags, int64_t count, int32_t* out);

}  // namespace penstock
