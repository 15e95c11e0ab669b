// flat_map where the inner datasets can be made by the block.
#pragma once

#include <memory>

#include "datasets/inner_template.h"

namespace penstock {

// The same elements as open_interleaving emits with one dataset open at a time. Each resumes from
// the marks of the other (opened_mark.h).
CursorPtr open_block_flat_map(const PlanPtr& node, const OpenContext& context,
                              std::unique_ptr<const InnerTemplate> how);

}  // namespace penstock
