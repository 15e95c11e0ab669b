// cardinality(dataset): how many elements the dataset says it has; -1 endless, -2 not known.

#include "datasets/datasets.h"
#include "datasets/kept_rows.h"
#include "runtime/open.h"

namespace penstock {

namespace {

// Inside a function a dataset that came in as a value says its own.
int64_t cardinality_of(const PlanNode& input, const OpenContext& context) {
  if (!input.is("dataset_of")) return input.cardinality;
  const auto index = static_cast<size_t>(input.arg("dataset").capture_index());
  const Object* value = context.environment[index].object().get();
  if (const int64_t rows = kept_count(value); rows >= 0) return rows;
  const auto* dataset = dynamic_cast<const DatasetValue*>(value);
  return dataset ? dataset->plan()->cardinality : kUnknown;
}

}  // namespace

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
  op.run_sink = [](const PlanPtr& node, OpenContext& context) {
    return std::vector<Tensor>{Tensor::scalar(cardinality_of(*node->inputs[0], context))};
  };
  return op;
}

}  // namespace penstock
