// Tensors from little: fill, zeros, ones, arange, linspace.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

Shape infer_made_shape(const InferContext& context) {
  Shape out = shape_from_input(context, 0);
  for (const int64_t size : context.known_ints(0)) {
    if (size < 0) context.fail(0, "holds a negative size: " + std::to_string(size));
  }
  return out;
}

Spec infer_fill(const InferContext& context) {
  context.check_rank(1, 0);
  return Spec::tensor(context.tensor(1).dtype, infer_made_shape(context));
}

void fill_row(const RowCall& call) {
  const Tensor& value = call.inputs[1];
  const Dims dims = read_dims("fill", call.inputs[0]);
  if (value.dims().rank() != 0)
    fail_row("fill", "the value must be a scalar, got shape " + value.dims().text());
  OutputSlot& slot = call.outputs[0];
  check_size("fill", dims, slot.dtype());
  fill_entries(slot.allocate(dims), value.data(), dtype_size(slot.dtype()), dims.entries());
  share_strings(&slot, value);
}

Spec infer_zeros(const InferContext& context) {
  const DType dtype = context.attrs["dtype"].as_dtype();
  return Spec::tensor(dtype, infer_made_shape(context));
}

Spec infer_ones(const InferContext& context) {
  if (context.attrs["dtype"].as_dtype() == DType::bytes)
    throw TypeError{-1, "dtype", "is bytes, expected numbers"};
  return infer_zeros(context);
}

void zeros_row(const RowCall& call) {
  OutputSlot& slot = call.outputs[0];
  const Dims dims = read_dims("zeros", call.inputs[0]);
  check_size("zeros", dims, slot.dtype());
  std::byte* out = slot.allocate(dims);
  if (dims.entries() > 0)
    std::memset(out, 0, static_cast<size_t>(dims.entries() * dtype_size(slot.dtype())));
}

void ones_row(const RowCall& call) {
  OutputSlot& slot = call.outputs[0];
  const Dims dims = read_dims("ones", call.inputs[0]);
  check_size("ones", dims, slot.dtype());
  const Tensor one = converted(Tensor::scalar(1.0F), slot.dtype());
  fill_entries(slot.allocate(dims), one.data(), dtype_size(slot.dtype()), dims.entries());
}

// -- arange: one bound and a step, or both bounds and a step

DType arange_dtype(const InferContext& context) {
  const int n = static_cast<int>(context.inputs.size());
  std::optional<DType> out;
  for (int i = 0; i < n; ++i) {
    const LeafSpec& type = context.tensor(i);
    if (!is_number(type.dtype)) context.fail(i, "is " + type.text() + ", expected a number");
    context.check_rank(i, 0);
    // A whole step counts in any dtype; a float among integers makes floats.
    if (i == n - 1 && out && is_integer(type.dtype)) continue;
    if (!out || (is_integer(*out) && is_float(type.dtype))) {
      out = type.dtype;
    } else if (is_integer(type.dtype) && is_float(*out)) {
      continue;
    } else if (const auto wider = promote(*out, type.dtype)) {
      out = *wider;
    } else {
      context.fail(i, "is " + type.text() + ", another bound " + std::string(dtype_name(*out)) +
                          ": cast one");
    }
  }
  return out.value_or(DType::int64);
}

int64_t count_whole(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) fail_row("arange", "the step must not be zero: 0");
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const auto distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                 : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t width = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t count = (distance - 1) / width + 1;
  return static_cast<int64_t>(std::min<uint64_t>(count, uint64_t{1} << 62));
}

int64_t count_real(double start, double stop, double step) {
  if (step == 0) fail_row("arange", "the step must not be zero: 0");
  const double count = std::ceil((stop - start) / step);
  if (!std::isfinite(count)) fail_row("arange", "the bounds must be finite");
  return count <= 0 ? 0 : count > 0x1p60 ? int64_t{1} << 60 : static_cast<int64_t>(count);
}

struct ArangeArguments {
  const Tensor *start, *stop, *step;  // no start: 0
};
ArangeArguments arange_arguments(std::span<const Tensor> in) {
  if (in.size() == 2) return {nullptr, &in[0], &in[1]};
  return {&in[0], &in[1], &in[2]};
}

Spec infer_arange(const InferContext& context) {
  const DType dtype = arange_dtype(context);
  std::vector<Tensor> values;
  for (const InferInput& input : context.inputs) {
    if (!input.constant) return Spec::tensor(dtype, {Shape::kUnknown});
    values.push_back(*input.constant);
  }
  const ArangeArguments a = arange_arguments(values);
  try {
    const int64_t count = is_float(dtype) ? count_real(a.start ? number_at(*a.start) : 0,
                                                       number_at(*a.stop), number_at(*a.step))
                                          : count_whole(a.start ? integer_at(*a.start) : 0,
                                                        integer_at(*a.stop), integer_at(*a.step));
    return Spec::tensor(dtype, {count});
  } catch (const Error& e) {
    context.fail(e.message());
  }
}

void arange_row(const RowCall& call) {
  const ArangeArguments a = arange_arguments(call.inputs);
  OutputSlot& slot = call.outputs[0];
  for (const Tensor& t : call.inputs) {
    if (t.dims().rank() != 0) fail_row("arange", "expected scalars, got shape " + t.dims().text());
  }
  if (is_float(slot.dtype())) {
    const double start = a.start ? number_at(*a.start) : 0, step = number_at(*a.step);
    const int64_t n = count_real(start, number_at(*a.stop), step);
    check_size("arange", {n}, DType::float64);
    Tensor out = Tensor::make(DType::float64, {n});
    for (int64_t i = 0; i < n; ++i)
      out.mutable_entries<double>()[i] = start + static_cast<double>(i) * step;
    convert_entries(DType::float64, out.data(), slot.dtype(), slot.allocate({n}), n);
    return;
  }
  const int64_t start = a.start ? integer_at(*a.start) : 0, step = integer_at(*a.step);
  const int64_t n = count_whole(start, integer_at(*a.stop), step);
  check_size("arange", {n}, slot.dtype());
  std::byte* to = slot.allocate({n});
  visit_number(slot.dtype(), [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < n; ++i) {
      reinterpret_cast<T*>(to)[i] = static_cast<T>(
          static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(step));
    }
  });
}

// -- linspace

Spec infer_linspace(const InferContext& context) {
  for (int i = 0; i < 2; ++i) {
    context.check_rank(i, 0);
    if (!is_float(infer_number(context, i).dtype))
      context.fail(i, "is " + context.tensor(i).text() + ", expected a float: float32(x)");
  }
  infer_integers(context, 2, 0);
  const std::vector<int64_t> num = context.known_ints(2);
  if (!num.empty() && num[0] < 0)
    context.fail(2, "must not be negative: " + std::to_string(num[0]));
  return Spec::tensor(infer_promoted(context, 0, 1), {num.empty() ? Shape::kUnknown : num[0]});
}

void linspace_row(const RowCall& call) {
  const double start = number_at(call.inputs[0]), stop = number_at(call.inputs[1]);
  const int64_t n = integer_at(call.inputs[2]);
  if (n < 0) fail_row("linspace", "num must not be negative: " + std::to_string(n));
  check_size("linspace", {n}, DType::float64);
  Tensor out = Tensor::make(DType::float64, {n});
  const double step = n > 1 ? (stop - start) / static_cast<double>(n - 1) : 0;
  for (int64_t i = 0; i < n; ++i) {
    out.mutable_entries<double>()[i] =
        i > 0 && i == n - 1 ? stop : start + static_cast<double>(i) * step;
  }
  call.outputs[0].set(converted(out, call.outputs[0].dtype()));
}

// -- zeros_like, ones_like

Spec infer_like(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  return Spec::tensor(type.dtype, type.shape);
}

Spec infer_ones_like(const InferContext& context) {
  if (context.tensor(0).dtype == DType::bytes) context.fail(0, "is bytes, expected numbers");
  return infer_like(context);
}

template <int value>
void like_row(const RowCall& call) {
  OutputSlot& slot = call.outputs[0];
  const Dims& dims = call.inputs[0].dims();
  std::byte* out = slot.allocate(dims);
  if (value == 0) {
    if (dims.entries() > 0)
      std::memset(out, 0, static_cast<size_t>(dims.entries() * dtype_size(slot.dtype())));
    return;
  }
  const Tensor one = converted(Tensor::scalar(1.0F), slot.dtype());
  fill_entries(out, one.data(), dtype_size(slot.dtype()), dims.entries());
}

}  // namespace

void add_make_ops(OpRegistry* registry) {
  const OpTraits traits{"shape", 80, true};
  const auto dtype = [] { return dtype_param(DType::float32); };
  registry->add(op_def("fill", "a tensor of this shape that holds the value everywhere",
                       {tensor_param("shape"), tensor_param("value")}, infer_fill, fill_row,
                       traits));
  registry->add(op_def("zeros", "a tensor of zeros (false, empty strings)",
                       {tensor_param("shape"), dtype()}, infer_zeros, zeros_row, traits));
  registry->add(op_def("ones", "a tensor of ones (true)", {tensor_param("shape"), dtype()},
                       infer_ones, ones_row, traits));
  registry->add(op_def("zeros_like", "zeros (false, empty strings) of x's shape and dtype",
                       {tensor_param("x")}, infer_like, like_row<0>, {"shape", 40}));
  registry->add(op_def("ones_like", "ones (true) of x's shape and dtype", {tensor_param("x")},
                       infer_ones_like, like_row<1>, {"shape", 40}));
  registry->add(op_def("arange",
                       "0, 1, ... below start; with stop: start, start + step, ... before it",
                       {tensor_param("start"), optional("stop", Param::Kind::tensor, {}),
                        optional("step", Param::Kind::tensor, Attr::integer(1))},
                       infer_arange, arange_row, traits));
  registry->add(op_def("linspace", "num floats from start to stop, both among them",
                       {tensor_param("start"), tensor_param("stop"), tensor_param("num")},
                       infer_linspace, linspace_row, traits));
}

}  // namespace penstock
