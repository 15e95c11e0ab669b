// Inputs of ops over sparse tensors.
#pragma once

#include "data/ragged.h"
#include "functions/op.h"

namespace penstock {

// Throws TypeError unless input i is sparse.
const LeafSpec& infer_sparse(const InferContext& context, int i);
// The row's value; throws Error when it is none.
const SparseTensor& sparse_input(const RowCall& call, size_t i);

}  // namespace penstock
