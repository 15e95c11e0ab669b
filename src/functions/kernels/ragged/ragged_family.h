// The ops of ragged and sparse tensors by file; add_ragged_ops calls each once.
#pragma once

namespace penstock {

class OpRegistry;

void add_ragged_make_ops(OpRegistry* registry);
void add_ragged_parts_ops(OpRegistry* registry);
void add_ragged_dense_ops(OpRegistry* registry);
void add_ragged_pick_ops(OpRegistry* registry);
void add_ragged_stack_op(OpRegistry* registry);
void add_ragged_concat_op(OpRegistry* registry);
void add_ragged_subscript_op(OpRegistry* registry);
void add_ragged_reduce_ops(OpRegistry* registry);
void add_sparse_parts_ops(OpRegistry* registry);
void add_sparse_concat_op(OpRegistry* registry);

}  // namespace penstock
