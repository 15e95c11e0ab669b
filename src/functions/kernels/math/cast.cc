// The cast between numbers and bool.

#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/op.h"

namespace penstock {
namespace {

Spec infer_cast(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (type.dtype == dtype) return Spec::tensor(dtype, type.shape);
  const std::string name(dtype_name(dtype));
  if (type.dtype == DType::bytes) {
    context.fail(0, "is " + type.text() + ": bytes are read, not cast: to_number(x, " + name + ")");
  }
  if (dtype == DType::bytes)
    context.fail(0, "is " + type.text() + ": numbers are written, not cast: as_string(x)");
  return Spec::tensor(dtype, type.shape);
}

void cast_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  OutputSlot& slot = call.outputs[0];
  if (in.dtype() == slot.dtype()) return slot.set(in);
  convert_entries(in.dtype(), in.data(), slot.dtype(), slot.allocate(in.dims()),
                  in.entries_count());
}

bool cast_block(const BlockCall& call) {
  const Column& in = call.inputs[0];
  const DType dtype = call.output_dtypes[0];
  if (in.dtype() == dtype) {
    call.outputs[0] = in;
    return true;
  }
  if (in.kind() == Column::Kind::constant) {
    call.outputs[0] = Column::constant(converted(in.row(0), dtype), call.rows);
    return true;
  }
  if (in.kind() != Column::Kind::dense) return false;
  Column out = Column::dense(dtype, in.row_dims(), call.rows);
  convert_entries(in.dtype(), in.data(), dtype, out.mutable_data(),
                  call.rows * in.row_dims().entries());
  call.outputs[0] = std::move(out);
  return true;
}

DType cast_compute_dtype(std::span<const DType>, DType output) { return output; }
constexpr EntrywiseKernel kCast{"cast", 1, cast_compute_dtype, false, nullptr};

}  // namespace

void add_cast_ops(OpRegistry* registry) {
  OpDef op;
  op.name = "cast";
  op.params = {required("x", Param::Kind::tensor), required("dtype", Param::Kind::dtype)};
  op.doc =
      "x in another dtype: floats to integers toward zero, saturating, NaN to 0; integers wrap";
  op.infer = infer_cast;
  op.row = cast_row;
  op.block = cast_block;
  op.elementwise = true;
  op.entrywise = &kCast;
  op.cost_ns = 20;
  op.group = "math";
  op.known_entries = [](std::span<const KnownEntries> inputs) {
    return is_integer(inputs[0].type.dtype) ? inputs[0].entries : std::vector<int64_t>();
  };
  registry->add(std::move(op));
}

}  // namespace penstock
