// batch(n): consecutive elements stacked along a new first axis.
//
// Elements of one batch must have one shape. An error takes no slot: it leaves before the batch
// that is being filled, which goes on with the next element. Rows that already lie side by side in
// one buffer (a chain that was told the batch size) are not copied.

#include <algorithm>

#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class BatchCursor final : public Cursor {
 public:
  BatchCursor(CursorPtr input, int64_t size, bool drop_remainder, size_t columns)
      : input_(std::move(input)), size_(size), drop_remainder_(drop_remainder), pending_(columns) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      // An error comes out between the batches that were full before it and the one being filled.
      const int64_t before = errors_.empty() ? pending_rows_ : errors_.front().rows_before;
      if (const int64_t full = std::min(before / size_, pull.max_rows); full > 0)
        return emit(out, full, size_);
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

  Origin first_origin() const { return origins_.empty() ? Origin() : origins_.front().origin; }

  // `count` batches of `rows` rows each from the pending ones.
  Poll emit(Block* out, int64_t count, int64_t rows) {
    out->clear();
    out->rows = count;
    out->origin = batch_origins(count, rows);
    for (ColumnBuilder& c : pending_) {
      Column column = c.take(count * rows).expanded();
      if (column.kind() == Column::Kind::dense) {
        out->columns.push_back(column.grouped(rows));
      } else {
        out->columns.push_back(stack_rows(column, count, rows, out));
      }
    }
    pending_rows_ -= count * rows;
    for (Failure& f : errors_) f.rows_before -= count * rows;
    if (pending_rows_ == 0 && errors_.empty()) set_mark(out, {}, {input_->position()});
    return Poll::ready;
  }

  // Rows of several shapes: those batches whose rows agree are stacked, the others are errors.
  Column stack_rows(const Column& column, int64_t count, int64_t rows, Block* out) {
    std::vector<Tensor> batches;
    for (int64_t b = 0; b < count; ++b) {
      const Dims dims = column.dims_of(b * rows);
      int64_t different = -1;
      for (int64_t r = 0; r < rows && different < 0; ++r) {
        if (!(column.dims_of(b * rows + r) == dims)) different = r;
      }
      if (different >= 0) {
        if (!out->error_at(b)) {
          out->errors.push_back(
              {b, std::make_shared<const Error>(
                      Code::invalid_argument,
                      "elements of one batch have different shapes: element 0 " + dims.text() +
                          ", element " + std::to_string(different) + " " +
                          column.dims_of(b * rows + different).text() + "; use padded_batch")});
          std::ranges::sort(out->errors, {}, &RowError::row);
        }
        batches.emplace_back();
        continue;
      }
      Tensor batch = Tensor::make(column.dtype(), dims.with_front(rows));
      const auto bytes = static_cast<size_t>(dims.entries() * dtype_size(column.dtype()));
      for (int64_t r = 0; r < rows; ++r) {
        const Tensor row = column.row(b * rows + r);
        if (bytes > 0)
          std::memcpy(batch.mutable_data() + static_cast<size_t>(r) * bytes, row.data(), bytes);
        if (column.dtype() == DType::bytes) batch.mutable_buffer().keep(row.buffer());
      }
      batches.push_back(std::move(batch));
    }
    return Column::variable(column.dtype(), std::move(batches));
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

void infer(NodeDraft& draft) {
  const int64_t size = draft.int_at_least("batch_size", 1, "size must be positive", 1);
  const bool known_size = !draft.node.args["batch_size"].is_capture();
  const bool drop = draft.node.args["drop_remainder"].as_bool();
  const int64_t n = draft.input().cardinality;
  std::vector<LeafSpec> leaves = draft.input().spec.leaves();
  for (LeafSpec& leaf : leaves) {
    if (leaf.kind == LeafSpec::Kind::dataset)
      NodeDraft::fail("input", "cannot batch nested datasets");
    leaf.shape = leaf.shape.with_front(drop && known_size ? size : Shape::kUnknown);
  }
  draft.node.spec = draft.input().spec.with_leaves(leaves);
  draft.node.cardinality = n < 0         ? n
                           : !known_size ? kUnknown
                           : drop        ? n / size
                                         : n / size + (n % size != 0);
}

}  // namespace

OperatorDef batch_operator() {
  OperatorDef op;
  op.name = "batch";
  op.doc = "Consecutive elements stacked: batch(batch_size, drop_remainder=false).";
  op.params = {required("input", Param::Kind::dataset), required("batch_size", Param::Kind::tensor),
               optional("drop_remainder", Param::Kind::boolean, Attr::boolean(false)),
               knob("num_parallel_calls"),
               option("deterministic", Param::Kind::boolean, Attr::boolean(true))};
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const int64_t size = context.int_arg(*node, "batch_size");
    if (size < 1)
      throw Error(Code::invalid_argument, "size must be positive: " + std::to_string(size));
    OpenContext below = context.below(*node);
    below.batch_rows = size;
    return std::make_unique<BatchCursor>(below.open(node->inputs[0]), size,
                                         node->arg("drop_remainder").as_bool(),
                                         static_cast<size_t>(node->spec.leaf_count()));
  };
  return op;
}

}  // namespace penstock
