// while_loop: a state that goes round a body while a condition holds.

#include "base/cancellation.h"
#include "functions/kernels/control/control.h"
#include "functions/kernels/control/control_ops.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

Spec infer_while(const InferContext& context) {
  check_bodies(context, 2);
  const Spec& state = context.bodies[1]->input;
  const Spec& condition = context.bodies[0]->output;
  const bool scalar = condition.is_leaf() && condition.leaf.is_tensor() &&
                      condition.leaf.dtype == DType::boolean &&
                      (!condition.leaf.shape.has_rank() || condition.leaf.shape.rank() == 0);
  if (!scalar) context.fail("the condition gives " + condition.text() + ", expected a scalar bool");
  check_state(context, state, context.bodies[1]->output, 0);
  const int64_t most = context.attrs["max_iterations"].as_int();
  if (most < 0)
    throw TypeError{-1, "max_iterations", "must not be negative: " + std::to_string(most)};
  return state;
}

bool holds(const Tensor& condition) {
  if (condition.dims().rank() != 0)
    fail_row("while_loop", "the condition must be a scalar, got shape " + condition.dims().text());
  return condition.entry<bool>();
}

void while_row(const RowCall& call) {
  const CompiledFunction &condition = *call.bodies[0], &body = *call.bodies[1];
  const auto leaves = static_cast<size_t>(body.function().input_count());
  std::vector<Tensor> state(call.inputs.begin(),
                            call.inputs.begin() + static_cast<std::ptrdiff_t>(leaves));
  const int64_t most = call.attrs["max_iterations"].as_int();
  for (int64_t round = 0;; ++round) {
    check_cancelled();
    const RowId row = in_round(call.row, round);
    if (!holds(condition.run_body(state, call.inputs, row)[0])) break;
    if (round == most) {
      fail_row("while_loop", "the condition still holds after " + std::to_string(most) +
                                 " rounds; raise max_iterations");
    }
    state = body.run_body(std::move(state), call.inputs, row);
  }
  for (size_t i = 0; i < leaves; ++i) call.outputs[i].set(std::move(state[i]));
}

}  // namespace

void add_while_loop_op(OpRegistry* registry) {
  OpDef op = op_def(
      "while_loop",
      "state = body(state) while cond(state) holds; an error at the row when it "
      "still holds after max_iterations rounds",
      {required("init", Param::Kind::structure), required("cond", Param::Kind::function),
       required("body", Param::Kind::function), required("max_iterations", Param::Kind::integer)},
      infer_while, while_row, {"control", 1000, true});
  op.loop.items = false;
  registry->add(std::move(op));
}

}  // namespace penstock
