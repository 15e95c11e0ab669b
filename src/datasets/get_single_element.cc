// get_single_element(): the one element there is; none or more are an error.

#include "datasets/datasets.h"
#include "datasets/sink.h"

namespace penstock {

OperatorDef get_single_element_operator() {
  OperatorDef op;
  op.name = "get_single_element";
  op.doc = "The one element of a dataset; an error when there is none, or more.";
  op.params = {required("input", Param::Kind::dataset)};
  op.sink = true;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = 1;
  };
  op.run_sink = [](const PlanPtr& node, OpenContext& context) {
    std::vector<Tensor> out;
    int64_t rows = 0;
    for_each_row(node, context, [&](const Block& block, int64_t row) {
      if (++rows > 1) return false;
      for (const Column& c : block.columns) out.push_back(c.row(row));
      return true;
    });
    if (rows != 1) {
      throw Error(
          Code::invalid_argument,
          rows == 0 ? "the dataset has no element" : "the dataset has more than one element",
          node->op->name);
    }
    return out;
  };
  return op;
}

}  // namespace penstock
