// Row partitions in the forms that records hold them in.
#pragma once

#include <cstdint>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/parse/example_feature.h"

namespace penstock {

// The splits (from 0 to `items`) that a partition's entries describe. Throws INVALID_ARGUMENT when
// they do not cut exactly `items` items.
ChargedVector<int64_t> partition_splits(const Partition& partition,
                                        const ChargedVector<int64_t>& entries, int64_t items);

}  // namespace penstock
