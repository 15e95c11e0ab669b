// Finds the rows that a filter keeps.
#pragma once

#include <cstdint>

namespace penstock {

// Extra entries that the output of true_rows needs.
constexpr int64_t kTrueRowsSlack = 64;

// Writes the indices of the true flags among `count` to `out`, which has room for `count` +
// kTrueRowsSlack, and returns their number. Entries after the last index are undefined.
int64_t true_rows(const bool* flags, int64_t count, int32_t* out);

}  // namespace penstock
