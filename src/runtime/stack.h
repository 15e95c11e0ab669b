// Stages that stand on each other take from the stack of whoever pulls: how many there may be.
#pragma once

namespace penstock {

// Most stages on each other that may be opened. Neighbouring maps and filters count as one.
inline constexpr int kMostStages = 1000;

// Throws RESOURCE_EXHAUSTED where a stage with `depth` others above it is not to be opened.
void check_depth(int depth);
// Whether too little of the thread's stack is left for another stage. Cheap enough for each block.
bool stack_is_short();

}  // namespace penstock
