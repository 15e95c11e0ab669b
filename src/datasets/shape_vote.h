// Which elements can stand in one batch: those that agree in their shapes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "data/block.h"
#include "data/spec.h"

namespace penstock {

// Shapes of elements, as far as a batch needs them equal and their spec leaves them open: of a
// tensor all sizes, of a ragged tensor those inside its ragged axes, of a sparse one the rank.
class RowShapes {
 public:
  using Shapes = std::vector<Dims>;  // one for each component that is looked at

  explicit RowShapes(const std::vector<LeafSpec>& leaves);
  // False if the spec says that all elements agree.
  bool may_differ() const { return !looked_at_.empty(); }
  Shapes of(const Block& rows, int64_t row) const;
  // Counts the rows from `row` on that have these shapes, up to the first that has others.
  int64_t run(const Block& rows, int64_t row, const Shapes& shapes) const;
  // Whether in each of the groups of rows, which follow one another, all agree.
  bool agree(const Block& rows, std::span<const int64_t> groups) const;

 private:
  struct Component {
    size_t column;
    LeafSpec leaf;
  };
  std::vector<Component> looked_at_;
};

// Decides which of the rows for a batch of n make it, where they do not agree: the first n of one
// shape. If there are no n of one shape among 2n - 1 rows, those of the most frequent shape stay
// (of equally frequent ones the first). All others are errors, so that one misfit, though it comes
// first, costs nothing but itself, and no row waits for ever.
class ShapeVote {
 public:
  bool empty() const { return ids_.empty(); }
  int64_t rows() const { return static_cast<int64_t>(ids_.size()); }
  // The number of rows that have the most frequent shape.
  int64_t most() const { return empty() ? 0 : counts_[leader_]; }
  const RowShapes::Shapes& winner() const { return shapes_[leader_]; }

  void add(const RowShapes::Shapes& shapes, int64_t rows = 1);
  bool is_decided(int64_t n) const { return !empty() && (most() >= n || rows() - n >= n - 1); }
  // Splits the rows, in the order in which they were added, and forgets them all. Rows are numbered
  // from 0; the errors are INVALID_ARGUMENT.
  struct Verdict {
    std::vector<int32_t> kept;
    std::vector<RowError> misfits;
  };
  Verdict decide();

 private:
  struct Less {
    bool operator()(const RowShapes::Shapes& a, const RowShapes::Shapes& b) const;
  };
  std::map<RowShapes::Shapes, size_t, Less> known_;
  std::vector<RowShapes::Shapes> shapes_;  // by id, in the order of their first rows
  std::vector<int64_t> counts_;
  std::vector<size_t> ids_;  // of each row
  size_t leader_ = 0;
};

}  // namespace penstock
