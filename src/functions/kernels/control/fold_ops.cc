// reduce, scan: a state that takes up each item along axis 0.

#include "base/cancellation.h"
#include "functions/kernels/control/control.h"
#include "functions/kernels/control/control_ops.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

const Spec& body_input(const InferContext& context) {
  check_bodies(context, 1);
  const Spec& input = context.bodies[0]->input;
  if (input.kind != Spec::Kind::tuple || input.items.size() != 2)
    context.fail("the function must take (state, item)");
  return input;
}

Spec infer_reduce(const InferContext& context) {
  const Spec& input = body_input(context);
  check_items(context, input.items[1]);
  check_state(context, input.items[0], context.bodies[0]->output,
              static_cast<size_t>(input.items[1].leaf_count()));
  return input.items[0];
}

Spec infer_scan(const InferContext& context) {
  const Spec& input = body_input(context);
  const Spec& given = context.bodies[0]->output;
  if (given.kind != Spec::Kind::tuple || given.items.size() != 2)
    context.fail("the function gives " + given.text() + ", expected (state, output)");
  const int64_t items = check_items(context, input.items[1]);
  check_state(context, input.items[0], given.items[0],
              static_cast<size_t>(input.items[1].leaf_count()));
  return Spec::tuple({input.items[0], collected_spec(context, given.items[1], items)});
}

// Of what the body gives the first leaves are the state, the rest goes into `results`.
std::vector<Tensor> fold(std::string_view op, const RowCall& call,
                         std::vector<Collector>* results) {
  const CompiledFunction& body = *call.bodies[0];
  const Function& f = body.function();
  const auto item_leaves = static_cast<size_t>(f.input.items[1].leaf_count());
  const auto state_leaves = static_cast<size_t>(f.input.items[0].leaf_count());
  const Items items(op, call.inputs.first(item_leaves));
  const std::span<const Tensor> init = call.inputs.subspan(item_leaves, state_leaves);
  std::vector<Tensor> state(init.begin(), init.end());
  for (int64_t i = 0; i < items.count(); ++i) {
    check_cancelled();
    std::vector<Tensor> given = std::move(state);
    items.append(i, &given);
    state = body.run_body(std::move(given), call.inputs, in_round(call.row, i));
    for (size_t k = state_leaves; k < state.size(); ++k)
      (*results)[k - state_leaves].add(op, std::move(state[k]));
    state.resize(state_leaves);
  }
  return state;
}

void reduce_row(const RowCall& call) {
  std::vector<Tensor> state = fold("reduce", call, nullptr);
  for (size_t i = 0; i < state.size(); ++i) call.outputs[i].set(std::move(state[i]));
}

void scan_row(const RowCall& call) {
  std::vector<Collector> results;
  for (const LeafSpec& leaf : call.bodies[0]->function().output.items[1].leaves())
    results.emplace_back(leaf);
  std::vector<Tensor> state = fold("scan", call, &results);
  for (size_t i = 0; i < state.size(); ++i) call.outputs[i].set(std::move(state[i]));
  for (size_t i = 0; i < results.size(); ++i) results[i].finish(&call.outputs[state.size() + i]);
}

std::vector<Param> params() {
  return {required("x", Param::Kind::structure), required("init", Param::Kind::structure),
          required("f", Param::Kind::function)};
}

}  // namespace

void add_fold_ops(OpRegistry* registry) {
  registry->add(op_def("reduce", "state = f(state, item) over the items of x along axis 0",
                       params(), infer_reduce, reduce_row, {"control", 500, true}));
  OpDef scan =
      op_def("scan",
             "(state, output) = f(state, item) over the items of x along axis 0: (the last "
             "state, the outputs put together)",
             params(), infer_scan, scan_row, {"control", 500, true});
  scan.loop.pairs = true;
  registry->add(std::move(scan));
}

}  // namespace penstock
