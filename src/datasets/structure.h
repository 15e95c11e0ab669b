// Structures of tensors as arguments: trees of attributes whose leaves are tensors.
#pragma once

#include <vector>

#include "plan/node.h"

namespace penstock {

// The element spec of the structure; captured leaves have the type that they were captured with.
Spec structure_spec(const Attr& structure);
// Its leaves in order, captures bound.
std::vector<Tensor> structure_leaves(const Attr& structure);

}  // namespace penstock
