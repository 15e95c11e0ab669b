// The type of a tensor at hand.
#pragma once

#include "data/spec.h"
#include "data/tensor.h"

namespace penstock {

// Dense, ragged, sparse or optional. REQUIRES that the tensor is no nested dataset.
LeafSpec leaf_of(const Tensor& tensor);

}  // namespace penstock
