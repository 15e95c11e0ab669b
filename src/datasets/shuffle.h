// Marks of `shuffle`.
#pragma once

#include <vector>

#include "runtime/checkpoint.h"

namespace penstock {

class Resharding;

// At the position of the input before the oldest element held.
struct ShuffleMark {
  static constexpr MarkForm kForm{"shuffle", 1};
  int64_t draws = 0;
  bool input_ended = false;
  // Age of each slot's element, in inputs since it came: at least 1, or 0 for the slot that the
  // next input fills.
  std::vector<int64_t> ages;
  static void fields(auto& mark, auto& f) {
    f.count("draws", mark.draws);
    f.flag("input_ended", mark.input_ended);
    f.counts("ages", mark.ages);
  }
};

// The oldest age: inputs that are read again.
int64_t oldest_age(const ShuffleMark& mark);

const Resharding* shuffle_resharding();

}  // namespace penstock
