// What flat_map and interleave share: inner datasets in slots, and whose turn it is.
#pragma once

#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

struct Interleaving {
  int64_t cycle_length = 1;
  int64_t block_length = 1;
  // Open inner datasets are worked on between their turns, `calls` of them at once and each
  // `rows_ahead` rows ahead, by other threads.
  bool in_turns = false;
  // The stage's. Coming inner datasets that read files are opened early, `files_ahead` of them, and
  // read ahead; the order does not change.
  StageControls* controls = nullptr;
};
constexpr int64_t kFilesAhead = 3, kMostFilesAhead = 64;

// The element spec of the dataset that f gives; fails when it gives something else.
Spec inner_spec(const NodeDraft& draft);
CursorPtr open_interleaving(const PlanPtr& node, const OpenContext& context,
                            const Interleaving& how);

}  // namespace penstock
