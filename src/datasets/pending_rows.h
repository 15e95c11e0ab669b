// Rows on their way into batches, and the errors between them.
#pragma once

#include <vector>

#include "data/block.h"
#include "datasets/shape_vote.h"

namespace penstock {

// Good rows wait until there are n that agree in shape. Errors of the input, and rows that do not
// agree (ShapeVote), take no slot: they leave before the batch that is being filled.
class PendingRows {
 public:
  explicit PendingRows(std::vector<LeafSpec> leaves);

  // Takes in a block for batches of n rows.
  void add(const Block& in, int64_t n);
  // No more rows come for the batch under way: it is made of those of the most frequent shape.
  void settle();

  bool empty() const { return rows_ == 0 && errors_.empty(); }
  // Rows that agree and stand before the first error.
  int64_t ready() const { return errors_.empty() ? settled() : errors_.front().rows_before; }
  // Rows that are not errors so far.
  int64_t rows() const { return rows_; }
  // The least number of rows that `count` batches of n still lack. REQUIRES n > 0.
  int64_t lacking(int64_t count, int64_t n) const { return count * n - settled() - vote_.most(); }
  bool has_error() const { return !errors_.empty(); }
  // The first error as a block. REQUIRES has_error().
  Block take_error();
  // Of `count` batches those that lie in one piece, or the one that does not: joining them all
  // copies, which costs more than a block more when rows are many bytes.
  int64_t without_copy(int64_t count, int64_t n) const;
  // The first `count` batches of n rows. Batches that find no memory are lost, in every component.
  // REQUIRES ready() >= count * n.
  void take(int64_t count, int64_t n, Block* out);

 private:
  struct Piece {
    int64_t first_row;  // among the pending rows; negative when its beginning is gone
    Origin origin;
  };
  struct Failure {
    int64_t rows_before;  // pending rows that came before it
    ErrorPtr error;
    Origin origin;
  };

  int64_t settled() const { return rows_ - vote_.rows(); }
  void add_good(const Block& rows, int64_t n);
  void append(const Block& rows);
  Block take_back(int64_t rows);
  Origin batch_origins(int64_t count, int64_t n);
  void forget(int64_t rows);

  const std::vector<LeafSpec> leaves_;
  const RowShapes shapes_;
  std::vector<ColumnBuilder> columns_;
  std::vector<Piece> origins_;
  int64_t rows_ = 0;
  RowShapes::Shapes current_;  // of the batch under way, while its rows agree
  ShapeVote vote_;             // else the last rows are its candidates
  std::vector<Failure> errors_;
};

}  // namespace penstock
