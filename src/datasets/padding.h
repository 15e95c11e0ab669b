// Elements padded at their ends to one shape and stacked: padded_batch and the buckets.
#pragma once

#include <span>
#include <vector>

#include "data/block.h"
#include "plan/node.h"

namespace penstock {

// How one component is padded.
struct Padding {
  Shape shape;   // of an element in the batch; -1: the largest
  Tensor value;  // scalar of the component's dtype
};

// One padding for each leaf of the input, from the arguments padded_shapes and padding_values.
// Throws ArgumentError. Captured sizes are open, captured values zero.
std::vector<Padding> read_paddings(const PlanNode& input, const Attr& shapes, const Attr& values);
// Those of the node when it is opened, captures bound; throws INVALID_ARGUMENT for what they hold.
std::vector<Padding> open_paddings(const OpenContext& context, const PlanNode& node);

// Rows of one component on their way into a batch: runs of neighbours, or rows from anywhere.
class RowsToPad {
 public:
  void add(Column run) {
    count_ += run.rows();
    runs_.push_back(std::move(run));
  }
  void add(Tensor row) {
    ++count_;
    rows_.push_back(std::move(row));
  }
  int64_t count() const { return count_; }
  // Lets all rows go but these, of rows that were added one by one.
  void keep(std::span<const int32_t> rows);
  // The runs, then the rows, as one tensor [count, ...]. Throws INVALID_ARGUMENT when they differ
  // in rank, DATA_LOSS when one is larger than the shape. REQUIRES count() > 0.
  Tensor pad(const Padding& padding);
  // The same as one column, not padded; they are let go.
  Column take();
  void clear();

 private:
  struct View {
    Dims dims;
    const std::byte* data;
  };
  Dims dims_of_batch(const Padding& padding) const;
  void keep_strings(BufferRef* buffer) const;

  std::vector<Column> runs_;
  std::vector<Tensor> rows_;
  std::vector<View> views_;  // of all, within pad
  int64_t count_ = 0;
};

// Finds rows that no batch can hold, since the padded shape of a component does not admit them.
class PaddingCheck {
 public:
  PaddingCheck(const std::vector<LeafSpec>& leaves, std::span<const Padding> paddings);
  // False if the spec says that all rows fit.
  bool may_fail() const { return !looked_at_.empty(); }
  // INVALID_ARGUMENT for a row of another rank, DATA_LOSS for one that is too large; else null.
  ErrorPtr check(const Block& rows, int64_t row) const;
  // Makes errors of such rows.
  void apply(Block* rows) const;

 private:
  struct Component {
    size_t column;
    Shape shape;
  };
  std::vector<Component> looked_at_;
};

// Adds a column of one row for each component to `out`; the rows are let go, though it throws.
void pad_components(std::span<RowsToPad> rows, std::span<const Padding> paddings, Block* out);

}  // namespace penstock
