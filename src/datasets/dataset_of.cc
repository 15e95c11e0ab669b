// A nested dataset that came in as a value, as a source. Made by the elaborator.

#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {

OperatorDef dataset_of_operator() {
  OperatorDef op;
  op.name = "dataset_of";
  op.doc = "The elements of a nested dataset.";
  op.params = {required("dataset", Param::Kind::any)};
  op.source = op.internal = true;
  op.stands_for = "dataset";
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = *draft.node.args["dataset"].capture_type().element;
    draft.node.cardinality = kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const Tensor value =
        context.environment[static_cast<size_t>(node->arg("dataset").capture_index())];
    const auto* dataset = dynamic_cast<const DatasetValue*>(value.object().get());
    PENSTOCK_CHECK(dataset != nullptr);
    // What is to be dropped behind the mark is dropped once, by who opens this.
    return open_dataset(context, *dataset, context.lineage, context.epoch, {context.at.mark, 0});
  };
  return op;
}

}  // namespace penstock
