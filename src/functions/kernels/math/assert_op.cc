// assert: a value, or the row's error.

#include <algorithm>

#include "functions/kernels/families.h"
#include "functions/op.h"

namespace penstock {
namespace {

Spec infer_assert(const InferContext& context) {
  context.tensor_of(0, DType::boolean);
  const LeafSpec& value = context.tensor(1);
  return Spec::tensor(value.dtype, value.shape);
}

Error failure(const Attrs& attrs) {
  return Error(Code::invalid_argument, "assert: " + attrs["message"].as_string());
}

bool all_true(const std::byte* data, int64_t n) {
  const auto* entries = reinterpret_cast<const bool*>(data);
  return std::all_of(entries, entries + n, [](bool b) { return b; });
}

void assert_row(const RowCall& call) {
  const Tensor& condition = call.inputs[0];
  if (!all_true(condition.data(), condition.entries_count())) throw failure(call.attrs);
  call.outputs[0].set(call.inputs[1]);
}

bool assert_block(const BlockCall& call) {
  const Column& condition = call.inputs[0];
  if (condition.kind() != Column::Kind::dense && condition.kind() != Column::Kind::constant)
    return false;
  const int64_t n = condition.row_dims().entries();
  ErrorPtr error;
  for (int64_t row = 0; row < call.rows; ++row) {
    if (all_true(condition.row_data(row), n)) continue;
    if (!error) error = std::make_shared<const Error>(failure(call.attrs));
    call.errors->push_back({row, error});
  }
  call.outputs[0] = call.inputs[1];
  return true;
}

}  // namespace

void add_assert_ops(OpRegistry* registry) {
  OpDef op;
  op.name = "assert";
  op.params = {required("cond", Param::Kind::tensor), required("value", Param::Kind::tensor),
               optional("message", Param::Kind::text, Attr::text("the condition is false"))};
  op.doc = "the value; INVALID_ARGUMENT with the message at rows where the condition is not true "
           "everywhere";
  op.infer = infer_assert;
  op.row = assert_row;
  op.block = assert_block;
  op.can_fail = true;
  op.cost_ns = 15;
  op.group = "logic";
  registry->add(std::move(op));
}

}  // namespace penstock
