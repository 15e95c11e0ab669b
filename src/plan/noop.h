// Stages that change nothing: take(-1), skip(0), repeat(1), prefetch(0), map(x -> x).
#pragma once

#include "plan/node.h"

namespace penstock {

// Returns true if the argument is known and is the scalar integer `value`.
bool argument_is(const PlanNode& node, std::string_view param, int64_t value);

// Returns true if its elements are those of its input, one for one; false for shard(1, 0), whose
// mark is where a run on one rank can be dealt to more (datasets/reshard.h).
bool changes_nothing(const PlanNode& node);

// The marks of its input are its own: nothing is remembered between blocks. What rewrites take away
// or put in is among these stages, so that checkpoints do not depend on rewrites.
inline bool passes_marks(const PlanNode& node) {
  return node.op->passes_marks || changes_nothing(node);
}

}  // namespace penstock
