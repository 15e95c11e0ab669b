// element_spec(): what is known of an element before there is one, as text: dtypes, shapes and the
// structure around them. Nothing is run.

#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {

OperatorDef element_spec_operator() {
  OperatorDef op;
  op.name = "element_spec";
  op.doc = "The type of an element as text: dtypes, shapes (? where not known), structure.";
  op.params = {required("input", Param::Kind::dataset)};
  op.sink = op.asks_plan = true;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = Spec::tensor(DType::bytes, {});
    draft.node.cardinality = 1;
  };
  op.run_sink = [](const PlanPtr& node, OpenContext&) {
    return std::vector<Tensor>{Tensor::of_bytes(node->inputs[0]->spec.text())};
  };
  return op;
}

}  // namespace penstock
