// from_tensor_slices(structure): element i holds item i along the first axis of each tensor. No
// copy.

#include <algorithm>

#include "datasets/datasets.h"
#include "datasets/structure.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class SlicesCursor final : public Cursor {
 public:
  SlicesCursor(const std::vector<Tensor>& leaves, const PlanNode& node, const OpenContext& context)
      : context_(context) {
    rows_ = leaves.empty() ? 0 : leaves[0].dims()[0];
    for (const Tensor& t : leaves) {
      if (t.dims().rank() == 0 || t.dims()[0] != rows_) {
        throw Error(Code::invalid_argument,
                    "the tensors differ in their first size: " + leaves[0].dims().text() + " and " +
                        t.dims().text());
      }
      columns_.push_back(Column::dense(t.dtype(), t.dims().without_front(), rows_, t.buffer(),
                                       const_cast<std::byte*>(t.data())));
    }
    position_ = context.resumed_index(node, rows_);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (position_ == rows_) return Poll::end;
    const int64_t rows = std::min(pull.max_rows, rows_ - position_);
    out->clear();
    out->rows = rows;
    for (const Column& c : columns_) out->columns.push_back(c.slice(position_, rows));
    out->origin = source_origin(context_, position_);
    position_ += rows;
    set_mark(out, {position_});
    return Poll::ready;
  }

 private:
  OpenContext context_;
  RecycledVector<Column> columns_;
  int64_t rows_ = 0, position_ = 0;
};

}  // namespace

OperatorDef from_tensor_slices_operator() {
  OperatorDef op;
  op.name = "from_tensor_slices";
  op.doc = "An element for each item along the first axis of the tensors.";
  op.params = {required("tensors", Param::Kind::structure)};
  op.source = true;
  op.infer = [](NodeDraft& draft) {
    Spec spec = structure_spec(draft.node.args["tensors"]);
    std::vector<LeafSpec> leaves = spec.leaves();
    if (leaves.empty()) NodeDraft::fail("tensors", "at least one tensor is needed");
    int64_t rows = kUnknown;
    for (LeafSpec& leaf : leaves) {
      if (!leaf.is_tensor()) NodeDraft::fail("tensors", "expected tensors");
      if (leaf.shape.is_scalar()) NodeDraft::fail("tensors", "a scalar cannot be sliced");
      const int64_t n = leaf.shape.has_rank() ? leaf.shape[0] : -1;
      if (n >= 0 && rows >= 0 && n != rows) {
        NodeDraft::fail("tensors", "the tensors differ in their first size: " +
                                       std::to_string(rows) + " and " + std::to_string(n));
      }
      if (n >= 0) rows = n;
      leaf.shape = leaf.shape.without_front();
    }
    draft.node.spec = spec.with_leaves(leaves);
    draft.node.cardinality = rows;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<SlicesCursor>(structure_leaves(context.arg(*node, "tensors")), *node,
                                          context);
  };
  return op;
}

}  // namespace penstock
