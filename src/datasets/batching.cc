// Rows that already lie side by side in one buffer (a chain that was told the batch size) are not
// copied.

#include "datasets/batching.h"

#include <algorithm>
#include <exception>

#include "datasets/stacking.h"

namespace penstock {
namespace {

class BatchCursor final : public Cursor {
 public:
  BatchCursor(CursorPtr input, int64_t size, bool drop_remainder, std::vector<LeafSpec> leaves)
      : input_(std::move(input)),
        size_(size),
        drop_remainder_(drop_remainder),
        leaves_(std::move(leaves)),
        pending_(leaves_.size()) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      // An error comes out between the batches that were full before it and the one being filled.
      const int64_t before = errors_.empty() ? pending_rows_ : errors_.front().rows_before;
      if (const int64_t full = std::min(before / size_, pull.max_rows); full > 0)
        return emit(out, without_copy(full), size_);
      if (!errors_.empty()) {
        *out = error_block(errors_.front().error, identity().columns, first_origin());
        errors_.erase(errors_.begin());
        return Poll::ready;
      }
      if (ended_) {
        if (pending_rows_ == 0 || drop_remainder_) return Poll::end;
        return emit(out, 1, pending_rows_);
      }
      // Whole batches at once when they are small; never more than the consumer asked for.
      const int64_t batches = std::min<int64_t>(pull.max_rows, std::max<int64_t>(1, 4096 / size_));
      const Poll poll = input_->pull(&in_, {batches * size_ - pending_rows_, pull.waker});
      if (poll == Poll::pending) return poll;
      if (poll == Poll::end) {
        ended_ = true;
      } else {
        absorb();
      }
    }
  }

 private:
  // Good rows join the pending ones; errors wait for their turn.
  void absorb() {
    if (in_.errors.empty()) {
      append(in_);
      return;
    }
    int64_t from = 0;
    for (const RowError& e : in_.errors) {
      if (e.row > from) append(in_.slice(from, e.row - from));
      errors_.push_back({pending_rows_, e.error});
      from = e.row + 1;
    }
    if (from < in_.rows) append(in_.slice(from, in_.rows - from));
  }

  void append(const Block& rows) {
    for (size_t c = 0; c < pending_.size(); ++c) pending_[c].append(rows.columns[c]);
    origins_.push_back({pending_rows_, rows.origin});
    pending_rows_ += rows.rows;
  }

  // Of `full` batches those that lie in one piece, or the one that does not: joining them all
  // copies, which costs more than a block more when rows are many bytes.
  int64_t without_copy(int64_t full) const {
    constexpr int64_t kWorthSplitting = 8 << 10;
    int64_t bytes = 0, piece = full * size_;
    for (const ColumnBuilder& column : pending_) {
      const Column& first = column.pieces().front();
      if (first.kind() != Column::Kind::dense || first.rows() >= full * size_) continue;
      bytes += full * size_ * first.row_bytes();
      piece = std::min(piece, first.rows());
    }
    return bytes < kWorthSplitting ? full : std::max<int64_t>(1, piece / size_);
  }

  Origin first_origin() const { return origins_.empty() ? Origin() : origins_.front().origin; }

  // `count` batches of `rows` rows each from the pending ones.
  Poll emit(Block* out, int64_t count, int64_t rows) {
    out->clear();
    out->rows = count;
    out->origin = batch_origins(count, rows);
    std::exception_ptr failure;  // batches that find no memory are lost, in every column
    for (size_t c = 0; c < pending_.size(); ++c) {
      try {
        Column column = pending_[c].take(count * rows);
        if (failure) continue;
        out->columns.push_back(
            stack_rows(std::move(column), leaves_[c], count, rows, &out->errors));
      } catch (const Error&) {
        failure = std::current_exception();
      }
    }
    pending_rows_ -= count * rows;
    for (Failure& f : errors_) f.rows_before -= count * rows;
    if (failure) std::rethrow_exception(failure);
    if (pending_rows_ == 0 && errors_.empty()) set_mark(out, {}, {input_->position()});
    return Poll::ready;
  }

  // Lineage and epoch of the first row of each batch; forgets the rows.
  Origin batch_origins(int64_t count, int64_t rows) {
    if (origins_.size() == 1 || (origins_.size() > 1 && origins_[1].first_row >= count * rows)) {
      const Origin out = origins_[0].origin.slice(-origins_[0].first_row).grouped(rows, count);
      forget(count * rows);
      return out;
    }
    RowIds lineages, epochs;
    size_t piece = 0;
    for (int64_t b = 0; b < count; ++b) {
      while (piece + 1 < origins_.size() && origins_[piece + 1].first_row <= b * rows) ++piece;
      lineages.push_back(origins_[piece].origin.lineage(b * rows - origins_[piece].first_row));
      epochs.push_back(origins_[piece].origin.epoch(b * rows - origins_[piece].first_row));
    }
    forget(count * rows);
    return Origin::of(std::move(lineages), std::move(epochs));
  }

  void forget(int64_t rows) {
    while (origins_.size() > 1 && origins_[1].first_row <= rows) origins_.erase(origins_.begin());
    for (Piece& p : origins_) p.first_row -= rows;
    if (pending_rows_ == rows) origins_.clear();
  }

  struct Piece {
    int64_t first_row;  // among the pending rows; negative when its beginning is gone
    Origin origin;
  };
  CursorPtr input_;
  const int64_t size_;
  const bool drop_remainder_;
  const std::vector<LeafSpec> leaves_;
  std::vector<ColumnBuilder> pending_;
  std::vector<Piece> origins_;
  int64_t pending_rows_ = 0;
  struct Failure {
    int64_t rows_before;  // pending rows that came before it
    ErrorPtr error;
  };
  std::vector<Failure> errors_;
  Block in_;
  bool ended_ = false;
};

}  // namespace

CursorPtr open_batching(CursorPtr input, int64_t size, bool drop_remainder,
                        std::vector<LeafSpec> leaves) {
  return std::make_unique<BatchCursor>(std::move(input), size, drop_remainder, std::move(leaves));
}

LeafSpec batched_leaf(const LeafSpec& leaf, int64_t rows) {
  if (leaf.kind == LeafSpec::Kind::dataset)
    NodeDraft::fail("input", "cannot batch nested datasets");
  if (leaf.kind == LeafSpec::Kind::optional) {
    NodeDraft::fail("input", "cannot batch " + leaf.text() +
                                 "; take the values out before: map(x -> get_value(x, default))");
  }
  LeafSpec out = leaf;
  out.shape = leaf.shape.with_front(rows);
  if (leaf.kind == LeafSpec::Kind::ragged) ++out.ragged_rank;
  return out;
}

int64_t batch_count(int64_t cardinality, int64_t size, bool drop_remainder) {
  if (cardinality < 0) return cardinality;
  if (size < 0) return kUnknown;
  return cardinality / size + (!drop_remainder && cardinality % size != 0 ? 1 : 0);
}

int64_t open_positive(const OpenContext& context, const PlanNode& node, std::string_view param) {
  const int64_t value = context.int_arg(node, param);
  if (value < 1) {
    throw Error(Code::invalid_argument,
                std::string(param) + " must be positive: " + std::to_string(value));
  }
  return value;
}

int64_t open_batch_size(const OpenContext& context, const PlanNode& node) {
  const int64_t size = context.int_arg(node, "batch_size");
  if (size < 1)
    throw Error(Code::invalid_argument, "size must be positive: " + std::to_string(size));
  return size;
}

int64_t known_batch_size(const NodeDraft& draft) {
  const int64_t size = draft.int_at_least("batch_size", 1, "size must be positive", 1);
  return draft.node.args["batch_size"].is_capture() ? -1 : size;
}

}  // namespace penstock
