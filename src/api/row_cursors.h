// Cursors over rows that user code emits.
#pragma once

#include <functional>
#include <optional>

#include "penstock/extend.h"
#include "runtime/open.h"

namespace penstock {

// Opens rows that `open` begins to emit. If `promised` is the number of elements, another number is
// an error at the end.
CursorPtr open_row_source(const std::function<RowSource()>& open, const PlanNode& node,
                          const OpenContext& context, std::optional<int64_t> promised = {});

// Opens rows that `open` makes of those of `input`, as the facts promise.
CursorPtr open_row_operator(std::function<RowSource(RowSource)> open, CursorPtr input,
                            const PlanNode& node, const OpenContext& context,
                            const OperatorFacts& facts);

}  // namespace penstock
