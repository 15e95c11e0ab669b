// Elementwise ops over ragged tensors: on their values, which keep their rows.
#pragma once

#include <vector>

#include "functions/function.h"

namespace penstock {

bool lifts_over_ragged(const FunctionBuilder& builder, const OpDef& op,
                       const std::vector<ValueId>& inputs);

// Adds the op over the values and puts its results in the rows of the first ragged input. Other
// inputs are ragged with the same row lengths, or scalars. Throws TypeError.
// REQUIRES lifts_over_ragged.
Spec add_over_ragged(FunctionBuilder* builder, const OpDef& op, const std::vector<ValueId>& inputs,
                     const Attrs& attrs, std::vector<ValueId>* outputs);

}  // namespace penstock
