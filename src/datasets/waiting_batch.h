// Batches that do not wait for ever.
#pragma once

#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

// Batches of up to `size` rows of the node's input: what is there `max_wait_ns` after a batch's
// first row makes a batch of its own. The input is pulled on another thread, a row at a time, so
// that one that blocks does not hold the rows before it back.
CursorPtr open_waiting_batch(const PlanPtr& node, const OpenContext& context, int64_t size,
                             int64_t max_wait_ns);

}  // namespace penstock
