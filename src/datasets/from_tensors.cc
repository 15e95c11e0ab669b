// from_tensors(structure): one element.

#include "datasets/datasets.h"
#include "datasets/structure.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

class FromTensorsCursor final : public Cursor {
 public:
  FromTensorsCursor(std::vector<Tensor> leaves, const Origin& origin)
      : leaves_(std::move(leaves)), origin_(origin) {}

 protected:
  Poll next(Block* out, const Pull&) override {
    if (given_) return Poll::end;
    given_ = true;
    out->clear();
    out->rows = 1;
    out->origin = origin_;
    for (const Tensor& t : leaves_) out->columns.push_back(Column::constant(t, 1));
    return Poll::ready;
  }

 private:
  std::vector<Tensor> leaves_;
  Origin origin_;
  bool given_ = false;
};

}  // namespace

OperatorDef from_tensors_operator() {
  OperatorDef op;
  op.name = "from_tensors";
  op.doc = "One element: the tensors as they are.";
  op.params = {required("tensors", Param::Kind::structure)};
  op.source = true;
  op.literal = Literal::element;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = structure_spec(draft.node.args["tensors"]);
    if (draft.node.spec.leaf_count() == 0)
      NodeDraft::fail("tensors", "at least one tensor is needed");
    draft.node.cardinality = 1;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<FromTensorsCursor>(structure_leaves(context.arg(*node, "tensors")),
                                               source_origin(context, 0));
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    return make_indexed(1, [leaves = structure_leaves(context.arg(*node, "tensors")),
                            context](std::span<const int64_t> indices) {
      Block out;
      out.rows = static_cast<int64_t>(indices.size());
      for (const Tensor& t : leaves) out.columns.push_back(Column::constant(t, out.rows));
      out.origin = source_origin(context, indices);
      return out;
    });
  };
  return op;
}

}  // namespace penstock
