// The values of a range: for the source and for ranges that are made by the block.
#pragma once

#include <cstdint>

#include "data/column.h"

namespace penstock {

struct RangeBounds {
  int64_t start, step, count;
};

// The number of values is exact for all 64-bit arguments. Throws INVALID_ARGUMENT for a step of 0.
RangeBounds range_bounds(int64_t start, int64_t stop, int64_t step);
// Writes values first, first + 1, ... of the range, counted from 0, to rows [row, row + n) of a
// column of scalars.
void fill_range(const RangeBounds& bounds, int64_t first, int64_t row, int64_t n, Column* column);

}  // namespace penstock
