// from_tensor_slices(structure): element i holds item i along the first axis of each tensor. No
// copy.

#include <algorithm>

#include "data/object_list.h"
#include "datasets/datasets.h"
#include "datasets/items.h"
#include "datasets/structure.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

RecycledVector<Column> columns_of(const PlanNode& node, const OpenContext& context) {
  const std::vector<Tensor> values = structure_leaves(context.arg(node, "tensors"));
  const std::vector<LeafSpec> leaves = structure_spec(node.arg("tensors")).leaves();
  RecycledVector<Column> out;
  for (size_t i = 0; i < values.size(); ++i) {
    out.push_back(item_column(values[i], leaves[i]));
    if (out[i].rows() != out[0].rows()) {
      throw Error(Code::invalid_argument,
                  "the tensors differ in their first size: " + std::to_string(out[0].rows()) +
                      " and " + std::to_string(out[i].rows()));
    }
  }
  return out;
}

class SlicesCursor final : public Cursor {
 public:
  SlicesCursor(RecycledVector<Column> columns, const PlanNode& node, const OpenContext& context)
      : context_(context),
        columns_(std::move(columns)),
        rows_(columns_[0].rows()),
        position_(context.resumed_index(node, rows_)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (position_ == rows_) return Poll::end;
    const int64_t rows = std::min(pull.max_rows, rows_ - position_);
    out->clear();
    out->rows = rows;
    for (const Column& c : columns_) out->columns.push_back(c.slice(position_, rows));
    out->origin = source_origin(context_, position_);
    position_ += rows;
    set_mark(out, IndexMark{position_});
    return Poll::ready;
  }

 private:
  OpenContext context_;
  RecycledVector<Column> columns_;
  const int64_t rows_;
  int64_t position_;
};

}  // namespace

OperatorDef from_tensor_slices_operator() {
  OperatorDef op;
  op.name = "from_tensor_slices";
  op.doc = "An element for each item along the first axis of the tensors.";
  op.params = {required("tensors", Param::Kind::structure)};
  op.source = true;
  op.literal = Literal::list;
  op.infer = [](NodeDraft& draft) {
    Spec spec = structure_spec(draft.node.args["tensors"]);
    std::vector<LeafSpec> leaves = spec.leaves();
    if (leaves.empty()) NodeDraft::fail("tensors", "at least one tensor is needed");
    int64_t rows = kUnknown;
    for (LeafSpec& leaf : leaves) {
      if (is_dataset(leaf)) NodeDraft::fail("tensors", "expected tensors");
      if (leaf.shape.is_scalar()) NodeDraft::fail("tensors", "a scalar cannot be sliced");
      const int64_t n = leaf.shape.has_rank() ? leaf.shape[0] : -1;
      if (n >= 0 && rows >= 0 && n != rows) {
        NodeDraft::fail("tensors", "the tensors differ in their first size: " +
                                       std::to_string(rows) + " and " + std::to_string(n));
      }
      if (n >= 0) rows = n;
      leaf = item_leaf(leaf);
    }
    draft.node.spec = spec.with_leaves(leaves);
    draft.node.cardinality = rows;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<SlicesCursor>(columns_of(*node, context), *node, context);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    Block all;
    all.columns = columns_of(*node, context);
    all.rows = all.columns[0].rows();
    return make_indexed(all.rows, [all, context](std::span<const int64_t> indices) {
      Block out = all.gather(std::vector<int32_t>(indices.begin(), indices.end()));
      out.origin = source_origin(context, indices);
      return out;
    });
  };
  return op;
}

}  // namespace penstock
