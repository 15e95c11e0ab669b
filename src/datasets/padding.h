// Elements padded at their ends to one shape and stacked: padded_batch and the buckets.
#pragma once

#include <vector>

#include "plan/node.h"

namespace penstock {

// How one component is padded.
struct Padding {
  Shape shape;   // of an element in the batch; -1: the largest
  Tensor value;  // scalar of the component's dtype
};

// One padding for each leaf of the input, from the arguments padded_shapes and padding_values.
// Throws ArgumentError.
std::vector<Padding> read_paddings(const PlanNode& input, const Attr& shapes, const Attr& values);

// The rows of one component as one tensor [n, ...]. Throws INVALID_ARGUMENT when they differ in
// rank, DATA_LOSS when one is larger than the shape. REQUIRES n > 0 rows.
Tensor pad_rows(const std::vector<Tensor>& rows, const Padding& padding, int64_t n);

}  // namespace penstock
