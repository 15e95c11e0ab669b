// sparse_batch(batch_size, row_shape): consecutive tensors as one sparse tensor that holds all
// their entries.
//
// A size of the row's shape that is left open takes the largest of the batch. An error takes no
// slot; an element that does not fit row_shape is one.

#include <algorithm>

#include "data/object_column.h"
#include "data/ragged.h"
#include "datasets/batching.h"
#include "datasets/datasets.h"
#include "datasets/resharding.h"
#include "datasets/stacking.h"

namespace penstock {
namespace {

class SparseBatchCursor final : public Cursor {
 public:
  SparseBatchCursor(CursorPtr input, int64_t size, bool drop_remainder, Shape row_shape)
      : input_(std::move(input)),
        size_(size),
        drop_remainder_(drop_remainder),
        row_shape_(std::move(row_shape)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      const auto filled = static_cast<int64_t>(rows_.size());
      if (filled == size_ || (ended_ && filled > 0 && !drop_remainder_)) return emit(out);
      if (ended_) return Poll::end;
      if (at_ == in_.rows) {
        at_ = 0;
        in_ = Block();
        const Poll poll = input_->pull(&in_, {size_ - filled, pull.waker});
        if (poll == Poll::pending) return poll;
        if (poll == Poll::end) {
          in_ = Block();
          ended_ = true;
          continue;
        }
        add_misfits();
      }
      const int64_t row = at_++;
      if (const ErrorPtr* e = in_.error_at(row)) {
        *out = error_block(*e, identity().columns, in_.origin.slice(row));
        return Poll::ready;
      }
      if (rows_.empty()) origin_ = in_.origin.slice(row);
      rows_.push_back(in_.columns[0].row(row));
    }
  }

 private:
  Poll emit(Block* out) {
    const std::vector<Tensor> rows = std::exchange(rows_, {});
    out->clear();
    out->rows = 1;
    out->origin = origin_;
    out->columns.push_back(object_column({join(rows).object()}));
    return Poll::ready;
  }

  // Makes errors of the rows that no batch can hold.
  void add_misfits() {
    for (int64_t row = 0; row < in_.rows; ++row) {
      if (in_.error_at(row)) continue;
      if (ErrorPtr error = misfit(in_.columns[0].dims_of(row)))
        add_row_error(row, std::move(error), &in_.errors);
    }
  }

  // Returns the error of an element of these sizes, null if it fits row_shape.
  ErrorPtr misfit(const Dims& dims) const {
    if (dims.rank() != row_shape_.rank()) {
      return std::make_shared<const Error>(
          Code::invalid_argument,
          "an element has shape " + dims.text() + ", row_shape is " + row_shape_.text());
    }
    for (int axis = 0; axis < dims.rank(); ++axis) {
      if (row_shape_[axis] >= 0 && dims[axis] > row_shape_[axis]) {
        return std::make_shared<const Error>(
            Code::data_loss,
            "an element of shape " + dims.text() + " does not fit row_shape " + row_shape_.text());
      }
    }
    return nullptr;
  }

  // Widens the sizes of the batch to hold the row.
  void widen(const Dims& dims, std::vector<int64_t>* sizes) const {
    for (int axis = 0; axis < dims.rank(); ++axis) {
      int64_t& size = (*sizes)[static_cast<size_t>(axis) + 1];
      size = std::max({size, dims[axis], row_shape_[axis]});
    }
  }

  Tensor join(const std::vector<Tensor>& rows) const {
    const int rank = row_shape_.rank();
    std::vector<int64_t> sizes(static_cast<size_t>(rank) + 1, 0);
    sizes[0] = static_cast<int64_t>(rows.size());
    int64_t entries = 0;
    for (const Tensor& t : rows) {
      widen(t.dims(), &sizes);
      entries += t.entries_count();
    }
    Tensor indices = Tensor::make(DType::int64, {entries, rank + 1});
    Tensor values = Tensor::make(rows[0].dtype(), {entries});
    auto* index = indices.mutable_entries<int64_t>();
    std::byte* to = values.mutable_data();
    for (size_t r = 0; r < rows.size(); ++r) {
      const Tensor& t = rows[r];
      if (t.data_bytes() > 0) std::memcpy(to, t.data(), static_cast<size_t>(t.data_bytes()));
      to += t.data_bytes();
      if (t.dtype() == DType::bytes) values.mutable_buffer().keep(t.buffer());
      for (int64_t i = 0; i < t.entries_count(); ++i, index += rank + 1) {
        index[0] = static_cast<int64_t>(r);
        int64_t rest = i;
        for (int axis = rank - 1; axis >= 0; --axis) {
          index[axis + 1] = rest % t.dims()[axis];
          rest /= t.dims()[axis];
        }
      }
    }
    return make_sparse(std::move(indices), std::move(values), Tensor::vector<int64_t>(sizes));
  }

  CursorPtr input_;
  const int64_t size_;
  const bool drop_remainder_;
  const Shape row_shape_;
  std::vector<Tensor> rows_;
  Origin origin_;
  Block in_;
  int64_t at_ = 0;
  bool ended_ = false;
};

void infer(NodeDraft& draft) {
  const int64_t size = known_batch_size(draft);
  const bool drop = draft.node.args["drop_remainder"].as_bool();
  const Spec& input = draft.input().spec;
  if (!input.is_leaf() || !is_dense(input.leaf))
    NodeDraft::fail("input", "an element is " + input.text() + ", expected one tensor");
  const Shape row(draft.node.args["row_shape"].as_ints());
  for (const int64_t s : row.sizes()) {
    if (s < -1) NodeDraft::fail("row_shape", "a size must not be negative: " + std::to_string(s));
  }
  if (input.leaf.shape.has_rank() && input.leaf.shape.rank() != row.rank()) {
    NodeDraft::fail("row_shape", "has rank " + std::to_string(row.rank()) +
                                     ", an element has shape " + input.leaf.shape.text());
  }
  draft.node.spec =
      Spec::of(sparse_leaf(input.leaf.dtype, row.with_front(drop ? size : Shape::kUnknown)));
  draft.node.cardinality = batch_count(draft.input().cardinality, size, drop);
}

}  // namespace

OperatorDef sparse_batch_operator() {
  OperatorDef op;
  op.name = "sparse_batch";
  op.doc = "Consecutive tensors as one sparse tensor of shape [batch, row_shape].";
  op.params = {required("input", Param::Kind::dataset), required("batch_size", Param::Kind::tensor),
               required("row_shape", Param::Kind::shape),
               optional("drop_remainder", Param::Kind::boolean, Attr::boolean(false))};
  op.rows = Rows::regroup;
  op.resharding = resharding_in_order<InputsMark>();
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<SparseBatchCursor>(
        context.open_input(*node), open_batch_size(context, *node),
        node->arg("drop_remainder").as_bool(), Shape(node->arg("row_shape").as_ints()));
  };
  return op;
}

}  // namespace penstock
