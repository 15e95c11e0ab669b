// Type of a given tensor.
#pragma once

#include "data/spec.h"
#include "data/tensor.h"

namespace penstock {

// Returns a dense, ragged, sparse or optional leaf. REQUIRES that the tensor is not a nested
// dataset.
LeafSpec leaf_of(const Tensor& tensor);

}  // namespace penstock
