// Rows of ragged tensors picked and cut; what ragged ops share.
#pragma once

#include <span>
#include <vector>

#include "data/ragged.h"
#include "functions/op.h"

namespace penstock {

// Throws TypeError unless input i is ragged (of ragged rank `rank` unless -1).
const LeafSpec& infer_ragged(const InferContext& context, int i, int rank = -1);
// The row's value; throws Error when it is none.
const RaggedTensor& ragged_input(const RowCall& call, size_t i);

// Entries items[0], items[1], ... along axis 0 of a dense tensor.
Tensor gather_items(const Tensor& values, std::span<const int64_t> items);
// Rows rows[0], rows[1], ... of a ragged tensor. REQUIRES that they lie inside.
Tensor gather_rows(const RaggedTensor& x, std::span<const int64_t> rows);
// Row i by itself: dense, or ragged by one axis less.
Tensor ragged_row(const RaggedTensor& x, int64_t i);

OpDef ragged_op(std::string name, std::string doc, Spec (*infer)(const InferContext&),
                RowKernel row, std::vector<Param> params);

}  // namespace penstock
