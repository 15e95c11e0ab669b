// flat_map where the inner datasets can be made by the block.
#pragma once

#include <memory>

#include "datasets/inner_template.h"

namespace penstock {

// Marks of this cursor have so many numbers: rows of the first outer row's source that are used,
// rows that came of them. Those of open_interleaving have more. Each takes up the other's.
constexpr size_t kBlockFlatMapNumbers = 2;

// The same elements as open_interleaving gives with one dataset open at a time.
CursorPtr open_block_flat_map(const PlanPtr& node, const OpenContext& context,
                              std::unique_ptr<const InnerTemplate> how);

}  // namespace penstock
