// Which stages share threads, and how many.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace penstock {

// How a stage's work is handed to other threads than those of its user.
struct HandedOver {
  enum class What : uint8_t {
    nothing,  // it runs in the thread of the stage that uses it
    blocks,   // threads of its own compute its blocks; one at a time pulls its inputs
    inputs,   // another thread computes its inputs ahead
    itself,   // another thread computes it, with its inputs
    nested,   // other threads compute its nested pipelines
  } what = What::nothing;
  int64_t width = 1;  // threads that may do so at once
  int head = -1;  // the stage on whose threads it runs, where that hands over blocks; -1: its own
};

// Sets thread_group and width of the stages; `handed` has an entry for each. Groups are numbered
// from the consumer's down.
void set_thread_groups(const std::vector<HandedOver>& handed, std::vector<StageTrace>* stages);

// Derives the same from a trace that was written without the groups.
std::vector<HandedOver> guess_handed_over(const std::vector<StageTrace>& stages);

}  // namespace penstock
