// What ops that look keys up in a table do, wherever the table comes from.
#pragma once

#include "functions/kernels/text/lookup_table.h"
#include "functions/op.h"

namespace penstock {

// The value of each key; throws NOT_FOUND.
void lookup_tensor(const LookupTable& table, const Tensor& keys, OutputSlot* out);
// The same for a block: sets output 0. False for columns that are not dense.
bool lookup_column(const LookupTable& table, const Column& keys, const BlockCall& call);
// Throws TypeError unless input i may be looked up in such a table.
Spec infer_lookup_in(const InferContext& context, int i, const LookupTable::Types& types);

}  // namespace penstock
