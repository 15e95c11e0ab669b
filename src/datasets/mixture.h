// What sample_from_datasets and choose_from_datasets share: several inputs open at once, and whose
// turn it is.
#pragma once

#include <vector>

#include "runtime/open.h"

namespace penstock {

// Says which input gives the next element.
class Selector {
 public:
  virtual ~Selector() = default;
  // Ready: *index is set, or *error says why there is none this time. `alive[i]`: input i has not
  // ended. At least one has not.
  virtual Poll select(const std::vector<bool>& alive, Waker* waker, int64_t* index,
                      ErrorPtr* error) = 0;
  // What is to be saved to go on: a number, and the position of what it reads (the inputs' are
  // added).
  virtual int64_t number() const = 0;
  virtual const StreamPosition* position() const { return nullptr; }
};

// The rows of a dataset that a selector goes by, one at a time.
class RowReader {
 public:
  explicit RowReader(CursorPtr rows) : cursor_(std::move(rows)), position_(cursor_->position()) {}
  // Goes to the next row; ready: the functions below speak of it.
  Poll next(Waker* waker);
  const ErrorPtr* error() const { return block_.error_at(row_); }
  std::span<const Column> columns() const { return block_.columns; }
  int64_t row() const { return row_; }
  // After the row.
  const StreamPosition& position() const { return position_; }

 private:
  CursorPtr cursor_;
  Block block_;
  int64_t row_ = 0;
  StreamPosition before_, position_;
};

// The common spec and cardinality of the node's first `count` inputs; fails when they differ.
void infer_mixture(NodeDraft& draft, size_t count);
// Input i in its place in the mixture: its rows are others than those of the first.
CursorPtr open_mixed_input(const PlanNode& node, const OpenContext& context, size_t i);
// Number of the selector's next draw.
int64_t resumed_draws(const PlanNode& node, const OpenContext& context);
// `inputs` are in the order of the node's. An input that has ended is passed over, or ends it all.
CursorPtr open_mixture(const PlanNode& node, const OpenContext& context,
                       std::vector<CursorPtr> inputs, std::unique_ptr<Selector> selector,
                       bool stop_on_empty);

}  // namespace penstock
