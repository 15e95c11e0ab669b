// ragged_batch(n): consecutive elements joined; components of unknown sizes become ragged tensors.
//
// A tensor is ragged up to its last unknown size; one of known shape, or of unknown rank, is
// stacked as by batch. row_splits_dtype is accepted as tf.data has it: int64 or int32. Row splits
// are kept as int64 whichever is given.

#include "data/ragged.h"
#include "datasets/batching.h"
#include "datasets/datasets.h"
#include "datasets/resharding.h"

namespace penstock {
namespace {

// The leaves of an element, those of unknown sizes seen as ragged.
std::vector<LeafSpec> ragged_leaves(const Spec& spec) {
  std::vector<LeafSpec> leaves = spec.leaves();
  for (LeafSpec& leaf : leaves) {
    if (!leaf.is_tensor() || !leaf.shape.has_rank()) continue;
    for (int axis = leaf.shape.rank() - 1; axis >= 0; --axis) {
      if (leaf.shape[axis] >= 0) continue;
      leaf = ragged_leaf(leaf.dtype, leaf.shape, axis);
      break;
    }
  }
  return leaves;
}

}  // namespace

OperatorDef ragged_batch_operator() {
  OperatorDef op;
  op.name = "ragged_batch";
  op.doc = "Consecutive elements, those of unknown sizes as ragged tensors.";
  op.params = {required("input", Param::Kind::dataset), required("batch_size", Param::Kind::tensor),
               optional("drop_remainder", Param::Kind::boolean, Attr::boolean(false)),
               optional("row_splits_dtype", Param::Kind::dtype, Attr::of(DType::int64))};
  op.rows = Rows::regroup;
  op.resharding = resharding_in_order<InputsMark>();
  op.infer = [](NodeDraft& draft) {
    const int64_t size = known_batch_size(draft);
    const bool drop = draft.node.args["drop_remainder"].as_bool();
    const DType splits = draft.node.args["row_splits_dtype"].as_dtype();
    if (splits != DType::int64 && splits != DType::int32) {
      NodeDraft::fail("row_splits_dtype",
                      "must be int64 or int32: " + std::string(dtype_name(splits)));
    }
    std::vector<LeafSpec> leaves = ragged_leaves(draft.input().spec);
    for (LeafSpec& leaf : leaves) leaf = batched_leaf(leaf, drop ? size : Shape::kUnknown);
    draft.node.spec = draft.input().spec.with_leaves(leaves);
    draft.node.cardinality = batch_count(draft.input().cardinality, size, drop);
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return open_batching(context.open_input(*node), open_batch_size(context, *node),
                         node->arg("drop_remainder").as_bool(),
                         ragged_leaves(node->inputs[0]->spec));
  };
  return op;
}

}  // namespace penstock
