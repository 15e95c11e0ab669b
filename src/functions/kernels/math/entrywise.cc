#include "functions/kernels/math/entrywise.h"

#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// One input in the computing dtype; `held` owns the converted entries.
const std::byte* prepared(DType from, const std::byte* data, int64_t entries, DType to,
                          Tensor* held) {
  if (from == to) return data;
  *held = Tensor::make(to, {entries});
  convert_entries(from, data, to, held->mutable_data(), entries);
  return held->data();
}

struct Arrays {
  std::array<DType, BroadcastPlan::kMaxInputs> dtypes{};
  std::array<const std::byte*, BroadcastPlan::kMaxInputs> data{};
  std::array<Extents, BroadcastPlan::kMaxInputs> extents{};
};

// Runs the kernel over arrays that broadcast; conditions of `where`-like kernels keep their dtype.
void run_arrays(const EntrywiseKernel& kernel, Arrays arrays, DType output, std::byte* out,
                bool* last_fails) {
  const auto n = static_cast<size_t>(kernel.inputs);
  const auto plan = BroadcastPlan::make(std::span(arrays.extents).first(n));
  PENSTOCK_CHECK(plan);
  if (plan->entries() == 0) return;
  const DType compute = kernel.compute(std::span(arrays.dtypes).first(n), output);
  std::array<Tensor, BroadcastPlan::kMaxInputs> held;
  EntrywiseCall call{*plan, compute, {}, {}, out};
  for (size_t i = 0; i < n; ++i) {
    const int64_t entries = arrays.extents[i].entries();
    call.in[i] = prepared(arrays.dtypes[i], arrays.data[i], entries, compute, &held[i]);
    call.in_entries[i] = entries;
  }
  if (kernel.fails) *last_fails = kernel.fails(compute, call.in[n - 1], call.in_entries[n - 1]);
  const DType made = kernel.gives_bool ? DType::boolean : compute;
  if (made == output) {
    kernel.run(call);
    return;
  }
  Tensor result = Tensor::make(made, {plan->entries()});
  call.out = result.mutable_data();
  kernel.run(call);
  convert_entries(made, result.data(), output, out, plan->entries());
}

Error failure_of(const EntrywiseKernel& kernel) {
  return Error(Code::invalid_argument,
               std::string(kernel.name) + ": " + std::string(kernel.failure));
}

}  // namespace

void run_entrywise_row(const EntrywiseKernel& kernel, const RowCall& call) {
  Arrays arrays;
  Dims dims = call.inputs[0].dims();
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& input = call.inputs[i];
    if (i > 0) dims = broadcast_dims(kernel.name, dims, input.dims());
    arrays.dtypes[i] = input.dtype();
    arrays.data[i] = input.data();
    arrays.extents[i] = Extents(input.dims());
  }
  OutputSlot& slot = call.outputs[0];
  bool fails = false;
  run_arrays(kernel, arrays, slot.dtype(), slot.allocate(dims), &fails);
  if (fails) throw failure_of(kernel);
}

bool run_entrywise_block(const EntrywiseKernel& kernel, const BlockCall& call) {
  const auto batch = batch_inputs(call);
  if (!batch) return false;
  Arrays arrays;
  arrays.extents = batch->extents;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    arrays.dtypes[i] = call.inputs[i].dtype();
    arrays.data[i] = call.inputs[i].data();
  }
  bool fails = false;
  const DType output = call.output_dtypes[0];
  if (batch->all_constant) {
    Tensor value = Tensor::make(output, batch->row_dims);
    run_arrays(kernel, arrays, output, value.mutable_data(), &fails);
    if (fails) return false;
    call.outputs[0] = Column::constant(std::move(value), call.rows);
    return true;
  }
  const Column& last = call.inputs.back();
  Column out = Column::dense(output, batch->row_dims, call.rows);
  run_arrays(kernel, arrays, output, out.mutable_data(), &fails);
  if (fails && last.kind() == Column::Kind::constant) return false;
  if (fails) {
    const int64_t entries = last.row_dims().entries();
    const DType compute =
        kernel.compute(std::span(arrays.dtypes).first(static_cast<size_t>(kernel.inputs)), output);
    const auto error = std::make_shared<const Error>(failure_of(kernel));
    Tensor held;
    const std::byte* data =
        prepared(last.dtype(), last.data(), entries * call.rows, compute, &held);
    for (int64_t row = 0; row < call.rows; ++row) {
      if (kernel.fails(compute, data + row * entries * dtype_size(compute), entries)) {
        call.errors->push_back({row, error});
      }
    }
  }
  call.outputs[0] = std::move(out);
  return true;
}

bool any_zero_integer(DType dtype, const std::byte* last, int64_t entries) {
  if (!is_integer(dtype)) return false;
  return visit_number(dtype, [&]<typename T>(TypeTag<T>) {
    bool found = false;
    for (int64_t i = 0; i < entries; ++i) found |= reinterpret_cast<const T*>(last)[i] == T{0};
    return found;
  });
}

bool any_negative(DType dtype, const std::byte* last, int64_t entries) {
  if (!is_signed(dtype)) return false;
  return visit_number(dtype, [&]<typename T>(TypeTag<T>) {
    bool found = false;
    for (int64_t i = 0; i < entries; ++i) found |= reinterpret_cast<const T*>(last)[i] < T{0};
    return found;
  });
}

DType common_compute_dtype(std::span<const DType> inputs, DType) {
  DType common = inputs[0];
  for (const DType dtype : inputs) common = promote(common, dtype).value_or(common);
  return compute_dtype(common);
}

const LeafSpec& infer_number(const InferContext& context, int i) {
  const LeafSpec& type = context.tensor(i);
  if (type.dtype == DType::bytes) {
    context.fail(i, "is " + type.text() + ", expected numbers; read them: to_number(x)");
  }
  if (!is_number(type.dtype))
    context.fail(i, "is " + type.text() + ", expected numbers; cast it: int64(x)");
  return type;
}

DType infer_promoted(const InferContext& context, int i, int j) {
  const DType a = context.tensor(i).dtype, b = context.tensor(j).dtype;
  if (const auto common = promote(a, b)) return *common;
  std::string message =  // bounded: a message
      "is " + std::string(dtype_name(a)) + ", the other side " + std::string(dtype_name(b));
  if (is_number(a) && is_number(b)) {
    const DType cast = is_float(a) ? a : is_float(b) ? b : DType::int64;
    message += ": cast one: " + std::string(dtype_name(cast)) + "(x)";
  }
  context.fail(i, message);
}

Spec infer_entrywise(const InferContext& context) {
  const LeafSpec& first = infer_number(context, 0);
  if (context.inputs.size() == 1) return Spec::tensor(first.dtype, first.shape);
  infer_number(context, 1);
  return Spec::tensor(infer_promoted(context, 0, 1), infer_broadcast(context, 0, 1));
}

OpDef entrywise_op(const EntrywiseKernel& kernel, std::string doc, RowKernel row,
                   BlockKernel block) {
  std::vector<Param> params{tensor_param(kernel.inputs == 1 ? "x" : "a")};
  if (kernel.inputs > 1) params.push_back(tensor_param("b"));
  OpDef op = op_def(std::string(kernel.name), std::move(doc), std::move(params), infer_entrywise,
                    row, {"math", 20, kernel.fails != nullptr});
  op.block = block;
  op.elementwise = true;
  op.entrywise = &kernel;
  return op;
}

}  // namespace penstock
