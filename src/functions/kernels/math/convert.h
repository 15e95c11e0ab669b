// Entries of one dtype as entries of another.
//
// Floats go to integers toward zero; what does not fit saturates, NaN becomes 0. Integers wrap. A
// number becomes bool by being other than zero (NaN is).
#pragma once

#include "data/tensor.h"

namespace penstock {

// REQUIRES that neither is bytes.
void convert_entries(DType from, const std::byte* in, DType to, std::byte* out, int64_t count);
// The same tensor when it has the dtype already.
Tensor converted(const Tensor& tensor, DType dtype);

}  // namespace penstock
