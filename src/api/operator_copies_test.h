// Operators of a test's own: copies of built-in ones under other names.
#pragma once

namespace penstock {

// Registers `my_NAME`, a copy with all facts, and `silent_NAME`, a copy that states none, of map,
// filter, take, shuffle, batch, repeat, cache and prefetch. May be called again.
void register_operator_copies();

}  // namespace penstock
