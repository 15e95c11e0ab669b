// map_fn: a function of each item along axis 0.

#include "base/cancellation.h"
#include "functions/kernels/control/control.h"
#include "functions/kernels/control/control_ops.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

Spec infer_map_fn(const InferContext& context) {
  check_bodies(context, 1);
  const int64_t items = check_items(context, context.bodies[0]->input);
  return collected_spec(context, context.bodies[0]->output, items);
}

void map_fn_row(const RowCall& call) {
  const CompiledFunction& body = *call.bodies[0];
  const Function& f = body.function();
  const Items items("map_fn", call.inputs.first(static_cast<size_t>(f.input_count())));
  std::vector<Collector> results;
  for (const LeafSpec& leaf : f.output.leaves()) results.emplace_back(leaf);
  for (int64_t i = 0; i < items.count(); ++i) {
    check_cancelled();
    std::vector<Tensor> item;
    items.append(i, &item);
    std::vector<Tensor> made = body.run_body(std::move(item), call.inputs, in_round(call.row, i));
    for (size_t k = 0; k < made.size(); ++k) results[k].add("map_fn", std::move(made[k]));
  }
  for (size_t k = 0; k < results.size(); ++k) results[k].finish(&call.outputs[k]);
}

}  // namespace

void add_map_fn_op(OpRegistry* registry) {
  OpDef op = op_def(
      "map_fn",
      "f of each item of x along axis 0: stacked; ragged where the first size of what f gives is "
      "not known, but the others are",
      {required("x", Param::Kind::structure), required("f", Param::Kind::function)}, infer_map_fn,
      map_fn_row, {"control", 500, true});
  op.loop.state = false;
  registry->add(std::move(op));
}

}  // namespace penstock
