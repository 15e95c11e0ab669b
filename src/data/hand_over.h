// Rows that leave a run. The consumer holds their bytes from then on, for as long as it likes,
// outside the run's memory budget.
#pragma once

#include "data/block.h"

namespace penstock {

// Hands over the buffer and the buffers that it keeps.
void hand_over(const BufferRef& buffer);
// Hands over all buffers of the block's rows. Costs some steps for each column and buffer, but not
// for each row of a dense column.
void hand_over(Block* block);
// Returns true if no buffer of the pool is left, handed over or not: it may be destroyed.
bool is_unused(const BufferPool& pool);

}  // namespace penstock
