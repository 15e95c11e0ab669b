// Which stages share threads: the hand-overs of a plan as the runtime makes them.
#pragma once

#include <vector>

#include "model/model.h"

namespace penstock {

// Groups from the consumer's thread down; demands and utilisations are left 0. Every stage is in
// one.
std::vector<ThreadModel> group_threads(const Trace& trace);

}  // namespace penstock
