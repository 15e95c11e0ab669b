// Stages that change nothing: take(-1), skip(0), repeat(1), prefetch(0), map(x -> x).
#pragma once

#include "plan/node.h"

namespace penstock {

// Its elements are those of its input, one for one; shard(1, 0) is not counted among them: its mark
// is where a run on one rank can be dealt to more (datasets/reshard.h).
bool changes_nothing(const PlanNode& node);

// The marks of its input are its own: nothing is remembered between blocks. What rewrites take away
// or put in is among these stages, so that checkpoints do not depend on rewrites.
inline bool passes_marks(const PlanNode& node) {
  return node.op->passes_marks || changes_nothing(node);
}

}  // namespace penstock
