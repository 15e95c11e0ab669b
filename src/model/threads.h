// Groups of stages that share threads: the hand-overs of a plan as the runtime makes them.
#pragma once

#include <vector>

#include "model/model.h"

namespace penstock {

// Returns the groups from the consumer's thread down; leaves demands and utilisations 0. Every
// stage is in one group.
std::vector<ThreadModel> group_threads(const Trace& trace);

}  // namespace penstock
