// reduce(initial_state, reduce_func): folds the elements into one value; the first error ends it.

#include "datasets/datasets.h"
#include "datasets/sink.h"
#include "datasets/structure.h"

namespace penstock {

OperatorDef reduce_operator() {
  OperatorDef op;
  op.name = "reduce";
  op.doc = "Folds the elements into one value: reduce_func(state, element) gives the next state.";
  op.params = {required("input", Param::Kind::dataset),
               required("initial_state", Param::Kind::structure),
               required("reduce_func", Param::Kind::function)};
  op.sink = true;
  op.function_arity = 2;
  op.function_input = [](const NodeDraft& draft, std::string_view) {
    return Spec::tuple({structure_spec(draft.node.args["initial_state"]), draft.input().spec});
  };
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.node.function("reduce_func")->input.items[0];
    draft.node.cardinality = 1;
  };
  op.run_sink = [](const PlanPtr& node, OpenContext& context) {
    const auto f = context.program(*node, "reduce_func");
    std::vector<Tensor> state = structure_leaves(context.arg(*node, "initial_state"));
    for_each_row(node, context, [&](const Block& block, int64_t row) {
      std::vector<Tensor> inputs = state;
      for (const Column& c : block.columns) inputs.push_back(c.row(row));
      state =
          f->run_row(std::move(inputs), {block.origin.lineage(row), block.origin.epoch(row), 0});
      return true;
    });
    return state;
  };
  return op;
}

}  // namespace penstock
