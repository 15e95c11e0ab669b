#include "functions/kernels/math/axiswise.h"

#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// `in` holds entries of dtype `from`, `out` takes entries of dtype `to`.
void run_lines(const AxisKernel& kernel, DType from, const std::byte* in, DType to, std::byte* out,
               const Around& around, const Attrs& attrs) {
  const int64_t entries = around.lines() * around.size;
  if (entries == 0) return;
  Tensor given, made;
  AxisCall call{compute_dtype(from), in, out, around, attrs};
  if (call.dtype != from) {
    given = Tensor::make(call.dtype, {entries});
    convert_entries(from, in, call.dtype, given.mutable_data(), entries);
    call.in = given.data();
  }
  const DType computed = compute_dtype(to);
  if (computed != to) {
    made = Tensor::make(computed, {entries});
    call.out = made.mutable_data();
  }
  kernel.run(call);
  if (computed != to) convert_entries(computed, made.data(), to, out, entries);
}

}  // namespace

void run_axis_row(const AxisKernel& kernel, const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const int axis = row_axis(kernel.name, call.attrs["axis"].as_int(), x.dims().rank());
  OutputSlot& slot = call.outputs[0];
  std::byte* out = slot.allocate(x.dims());
  run_lines(kernel, x.dtype(), x.data(), slot.dtype(), out, around(x.dims(), axis), call.attrs);
  share_strings(&slot, x);
}

bool run_axis_block(const AxisKernel& kernel, const BlockCall& call) {
  const Column& x = call.inputs[0];
  if (x.kind() != Column::Kind::dense) return false;
  const Dims& dims = x.row_dims();
  const int64_t axis = call.attrs["axis"].as_int();
  if (axis < -dims.rank() || axis >= dims.rank()) return false;  // each row is to say so
  Around lines = around(dims, static_cast<int>(axis < 0 ? axis + dims.rank() : axis));
  lines.outer *= call.rows;
  const DType to = call.output_dtypes[0];
  Column out = Column::dense(to, dims, call.rows);
  run_lines(kernel, x.dtype(), x.data(), to, out.mutable_data(), lines, call.attrs);
  share_strings(&out.mutable_buffer(), x.buffer(), to);
  call.outputs[0] = std::move(out);
  return true;
}

Spec infer_axiswise(const InferContext& context, bool bytes) {
  const LeafSpec& type = bytes && context.tensor(0).dtype == DType::bytes
                             ? context.tensor(0)
                             : infer_number(context, 0);
  if (type.shape.has_rank())
    infer_axis(context, "axis", context.attrs["axis"].as_int(), type.shape.rank());
  return Spec::tensor(type.dtype, type.shape);
}

OpDef axis_op(const AxisKernel& kernel, std::string doc, int64_t axis, std::vector<Param> options,
              RowKernel row, BlockKernel block) {
  options.insert(options.begin(), {tensor_param("x"), axis_param(axis)});
  OpDef op = op_def(std::string(kernel.name), std::move(doc), std::move(options),
                    [](const InferContext& context) { return infer_axiswise(context); }, row,
                    {"reductions", 100});
  op.block = block;
  return op;
}

}  // namespace penstock
