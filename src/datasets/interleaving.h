// What flat_map and interleave share: inner datasets in slots, and whose turn it is.
#pragma once

#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

struct Interleaving {
  int64_t cycle_length = 1;
  int64_t block_length = 1;
  int64_t rows_ahead =
      0;  // each open inner dataset is worked on so far ahead by other threads; 0: not
  // Coming inner datasets that read files are opened early, so many, and read ahead; the order does
  // not change.
  int64_t files_ahead = 3;
};

// The element spec of the dataset that f gives; fails when it gives something else.
Spec inner_spec(const NodeDraft& draft);
CursorPtr open_interleaving(const PlanPtr& node, const OpenContext& context,
                            const Interleaving& how);

}  // namespace penstock
