// cardinality(dataset): how many elements the dataset says it has; -1 endless, -2 not known.
//
// In a function it is that of the row's dataset: a window is counted, captured sizes are known.

#include <unordered_map>

#include "datasets/datasets.h"
#include "datasets/kept_rows.h"
#include "runtime/open.h"

namespace penstock {
namespace {

int64_t cardinality_of(const PlanNode& root, std::span<const Tensor> environment);

// Of a dataset that came in as a value.
int64_t value_cardinality(const PlanNode& node, std::span<const Tensor> environment) {
  const auto index = static_cast<size_t>(node.arg(node.op->stands_for).capture_index());
  const Object* value = environment[index].object().get();
  if (const int64_t rows = kept_count(value); rows >= 0) return rows;
  const auto* dataset = dynamic_cast<const DatasetValue*>(value);
  return dataset ? cardinality_of(*dataset->plan(), dataset->environment()) : kUnknown;
}

// Inside a function arguments may come from outside: inferred anew with what they are now.
int64_t cardinality_of(const PlanNode& root, std::span<const Tensor> environment) {
  if (environment.empty()) return root.cardinality;
  std::unordered_map<const PlanNode*, PlanPtr> done;
  for (const PlanNode* node : topological(root)) {
    NodeDraft draft{*node};
    for (PlanPtr& input : draft.node.inputs) input = done.at(input.get());
    if (!node->op->stands_for.empty()) {
      draft.node.cardinality = value_cardinality(*node, environment);
    } else {
      draft.node.args = node->args.bound(environment);
      try {
        node->op->infer(draft);
      } catch (const ArgumentError& e) {
        throw Error(e.code, (e.param.empty() ? "" : e.param + " ") + e.message, node->op->name);
      }
    }
    done[node] = std::make_shared<const PlanNode>(std::move(draft.node));
  }
  return done.at(&root)->cardinality;
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
    return std::vector<Tensor>{
        Tensor::scalar(cardinality_of(*node->inputs[0], context.environment))};
  };
  return op;
}

}  // namespace penstock
