// What operators that give a value have in common: going through the rows of their input.
#pragma once

#include <functional>

#include "runtime/open.h"

namespace penstock {

// Calls f for each block of the node's input until it gives false. Errors are among the rows.
void for_each_block(const PlanPtr& node, const OpenContext& context,
                    const std::function<bool(const Block&)>& f);

// Calls f for each row of the node's input until it gives false; throws the first error.
void for_each_row(const PlanPtr& node, const OpenContext& context,
                  const std::function<bool(const Block&, int64_t row)>& f);

// Calls f for each block of rows until the end; throws the first error among them.
void for_each_row_block(Cursor& rows, Run& run, const std::function<void(const Block&)>& f);

}  // namespace penstock
