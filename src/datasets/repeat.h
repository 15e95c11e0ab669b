// Marks of `repeat`, for those who open a pass of their own.
#pragma once

#include "runtime/checkpoint.h"

namespace penstock {

class Resharding;

// With the position of the input in this pass, and those of later passes that have begun: ranks may
// have stood in different passes when their number changed.
struct RepeatMark {
  static constexpr MarkForm kForm{"repeat", 1};
  int64_t pass = 0;
  bool emitted = false;  // an element without an error in this pass
  static void fields(auto& mark, auto& f) {
    f.count("pass", mark.pass);
    f.flag("emitted", mark.emitted);
  }
};

const Resharding* repeat_resharding();

}  // namespace penstock
