// cardinality(dataset): how many elements the dataset says it has; -1 endless, -2 not known.

#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {

OperatorDef cardinality_operator() {
  OperatorDef op;
  op.name = "cardinality";
  op.doc = "The number of elements: -1 endless, -2 not known.";
  op.params = {required("input", Param::Kind::dataset)};
  op.sink = true;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = Spec::tensor(DType::int64, {});
    draft.node.cardinality = 1;
  };
  op.run_sink = [](const PlanPtr& node, OpenContext&) {
    return std::vector<Tensor>{Tensor::scalar(node->inputs[0]->cardinality)};
  };
  return op;
}

}  // namespace penstock
