// The items of a tensor along its first axis, dense, ragged or sparse, as rows of a column.
#pragma once

#include "data/column.h"
#include "data/spec.h"

namespace penstock {

// Row i is item i of the value, whose leaf is given. Bytes are shared where the items lie side by
// side. Throws INVALID_ARGUMENT for a scalar.
Column item_column(const Tensor& value, const LeafSpec& leaf);
// The leaf of an item.
LeafSpec item_leaf(const LeafSpec& leaf);
// The first size, -1 where it is not known. Fails the argument "input" for scalars and datasets:
// "`what` scalars".
int64_t first_size(const LeafSpec& leaf, const std::string& what);

}  // namespace penstock
