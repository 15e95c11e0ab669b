// The items of batches one by one: unbatch, and rebatch before it cuts anew.
#pragma once

#include "data/spec.h"
#include "runtime/open.h"

namespace penstock {

// At the position before an element.
struct UnbatchMark {
  static constexpr MarkForm kForm{"unbatch", 1};
  int64_t emitted = 0;  // items of it
  static void fields(auto& mark, auto& f) { f.count("emitted", mark.emitted); }
};

// The items of elements with these leaves. Errors keep their places. `from`: the mark of such a
// cursor, whose input has been opened where it says.
CursorPtr open_unbatching(CursorPtr input, std::vector<LeafSpec> leaves,
                          const UnbatchMark& from = {});

}  // namespace penstock
