// Items along an axis by their indices: what gather, repeat, roll and mirrored padding come down
// to.
#pragma once

#include <span>

#include "functions/op.h"

namespace penstock {

// x with its items along `axis` at these indices, which REQUIRES to be in range; `shape` holds as
// many entries and stands in the axis' place.
void take_items(OutputSlot* slot, const Tensor& x, int axis, std::span<const int64_t> at,
                const Dims& shape);
// The indices as one axis.
inline void take_items(OutputSlot* slot, const Tensor& x, int axis, std::span<const int64_t> at) {
  take_items(slot, x, axis, at, {static_cast<int64_t>(at.size())});
}

}  // namespace penstock
