#include "functions/kernels/families.h"
#include "functions/kernels/ragged/ragged_family.h"

namespace penstock {

void add_ragged_ops(OpRegistry* registry) {
  add_ragged_make_ops(registry);
  add_ragged_parts_ops(registry);
  add_ragged_dense_ops(registry);
  add_ragged_pick_ops(registry);
  add_ragged_stack_op(registry);
  add_ragged_concat_op(registry);
  add_ragged_subscript_op(registry);
  add_ragged_reduce_ops(registry);
  add_sparse_parts_ops(registry);
  add_sparse_concat_op(registry);
}

}  // namespace penstock
