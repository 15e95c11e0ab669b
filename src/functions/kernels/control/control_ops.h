// The control ops one by one, and what their types share.
#pragma once

#include "functions/op.h"

namespace penstock {

void add_while_loop_op(OpRegistry* registry);
void add_map_fn_op(OpRegistry* registry);
void add_fold_ops(OpRegistry* registry);

// Throws TypeError unless inputs from `first` on go with the state and what comes out of a body
// does, too.
void check_state(const InferContext& context, const Spec& state, const Spec& given, size_t first);
// The leaves of x, from input 0 on, whose items `item` describes; gives how many items there are
// (-1: unknown). Throws TypeError.
int64_t check_items(const InferContext& context, const Spec& item);
// `item` for each of so many items. Throws TypeError.
Spec collected_spec(const InferContext& context, const Spec& item, int64_t items);

}  // namespace penstock
