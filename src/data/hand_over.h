// Rows that leave a run: whoever consumes it holds their bytes from then on, for as long as they
// please, off the run's memory budget.
#pragma once

#include "data/block.h"

namespace penstock {

// The buffer, and those that it keeps.
void hand_over(const BufferRef& buffer);
// All that the block's rows lie in. Costs some steps for each column and buffer, not for each row
// of a dense column.
void hand_over(Block* block);
// True when none of the pool's buffers is left, handed over or not: it may be destroyed.
bool is_unused(const BufferPool& pool);

}  // namespace penstock
