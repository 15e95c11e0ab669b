// Inner datasets that can be made by the block, without a cursor for each: a range or the rows of a
// window, then maps and filters, then perhaps a batch.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plan/node.h"
#include "runtime/chain.h"
#include "runtime/open.h"

namespace penstock {

struct InnerTemplate {
  // Rows of the outer dataset to the values that the inner one captures, a column for each.
  std::shared_ptr<const CompiledFunction> environment;
  PlanPtr plan;      // of the inner dataset; null where f gives a dataset that it was given
  PlanPtr range;     // the source, or null:
  int rows_at = -1;  // the captured value that holds a window
  // From a source's columns, the values that the stages capture behind them, to those of an
  // element; null: no stages.
  std::unique_ptr<const Chain> stages;
  std::vector<int> captured;  // which of the environment's
  PlanPtr batch;              // the last stage, if it is a batch
  int64_t batch_size = 0;     // 0: none
  bool drop_remainder = false;
  size_t columns = 0;            // of an element before the batch
  std::vector<LeafSpec> leaves;  // of it
};

// Null when the datasets that the function f of `node` gives are of another kind.
std::unique_ptr<const InnerTemplate> inner_template(const PlanPtr& node,
                                                    const OpenContext& context);

}  // namespace penstock
