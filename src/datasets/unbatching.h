// The items of batches one by one: unbatch, and rebatch before it cuts anew.
#pragma once

#include "data/spec.h"
#include "runtime/open.h"

namespace penstock {

// The items of elements with these leaves. Errors keep their places. `from`: the mark of such a
// cursor, whose input has been opened where it says; null for the beginning.
CursorPtr open_unbatching(CursorPtr input, std::vector<LeafSpec> leaves, const StageMark* from);

}  // namespace penstock
