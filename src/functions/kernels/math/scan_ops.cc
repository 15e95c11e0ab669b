// Along one axis: cumsum, argmax, argmin.

#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"

namespace penstock {
namespace {

// An array around one axis: [outer, size, inner].
struct Around {
  int64_t outer = 1, size = 1, inner = 1;
};
Around around(const Dims& dims, int axis) {
  Around out;
  for (int i = 0; i < axis; ++i) out.outer *= dims[i];
  out.size = dims[axis];
  for (int i = axis + 1; i < dims.rank(); ++i) out.inner *= dims[i];
  return out;
}

Spec infer_cumsum(const InferContext& context) {
  const LeafSpec& type = infer_number(context, 0);
  if (type.shape.has_rank())
    infer_axis(context, "axis", context.attrs["axis"].as_int(), type.shape.rank());
  return Spec::tensor(type.dtype, type.shape);
}

template <typename T>
T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
}

void cumsum_row(const RowCall& call) {
  OutputSlot& slot = call.outputs[0];
  const DType compute = compute_dtype(slot.dtype());
  const Tensor x = converted(call.inputs[0], compute);
  const Around a =
      around(x.dims(), row_axis("cumsum", call.attrs["axis"].as_int(), x.dims().rank()));
  const bool exclusive = call.attrs["exclusive"].as_bool(),
             backwards = call.attrs["reverse"].as_bool();
  const int64_t entries = x.entries_count();
  Tensor held;
  std::byte* target = slot.allocate(x.dims());
  if (compute != slot.dtype()) held = Tensor::make(compute, x.dims());
  std::byte* to = compute != slot.dtype() ? held.mutable_data() : target;
  visit_number(compute, [&]<typename T>(TypeTag<T>) {
    const T* in = x.entries<T>();
    T* out = reinterpret_cast<T*>(to);
    for (int64_t o = 0; o < a.outer; ++o) {
      for (int64_t i = 0; i < a.inner; ++i) {
        T sum{0};
        for (int64_t k = 0; k < a.size; ++k) {
          const int64_t at = (o * a.size + (backwards ? a.size - 1 - k : k)) * a.inner + i;
          const T next = plus(sum, in[at]);
          out[at] = exclusive ? sum : next;
          sum = next;
        }
      }
    }
  });
  if (compute != slot.dtype()) convert_entries(compute, held.data(), slot.dtype(), target, entries);
}

Spec infer_arg(const InferContext& context) {
  const LeafSpec& type = infer_number(context, 0);
  const Shape& shape = type.shape;
  if (!shape.has_rank()) return Spec::tensor(DType::int64, shape);
  const int axis = infer_axis(context, "axis", context.attrs["axis"].as_int(), shape.rank());
  std::vector<int64_t> sizes = shape.sizes();
  sizes.erase(sizes.begin() + axis);
  return Spec::tensor(DType::int64, Shape(std::move(sizes)));
}

// The first of equal ones; NaN counts only where there is nothing else.
template <bool largest>
void arg_row(const RowCall& call) {
  constexpr std::string_view kName = largest ? "argmax" : "argmin";
  const Tensor x = converted(call.inputs[0], compute_dtype(call.inputs[0].dtype()));
  const int axis = row_axis(kName, call.attrs["axis"].as_int(), x.dims().rank());
  const Around a = around(x.dims(), axis);
  Dims dims;
  for (int i = 0; i < x.dims().rank(); ++i) {
    if (i != axis) dims.push_back(x.dims()[i]);
  }
  if (a.size == 0 && dims.entries() > 0) {
    fail_row(kName, "axis " + std::to_string(axis) + " of shape " + x.dims().text() + " is empty");
  }
  auto* out = call.outputs[0].allocate_as<int64_t>(dims);
  if (dims.entries() == 0) return;
  visit_number(x.dtype(), [&]<typename T>(TypeTag<T>) {
    const T* in = x.entries<T>();
    for (int64_t o = 0; o < a.outer; ++o) {
      for (int64_t i = 0; i < a.inner; ++i) {
        const T* line = in + o * a.size * a.inner + i;
        int64_t best = 0;
        for (int64_t k = 1; k < a.size; ++k) {
          const T v = line[k * a.inner], top = line[best * a.inner];
          if ((largest ? v > top : v < top) || (top != top && v == v)) best = k;
        }
        *out++ = best;
      }
    }
  });
}

OpDef scan_op(std::string name, std::string doc, Spec (*infer)(const InferContext&),
              RowKernel row) {
  OpDef op;
  op.name = std::move(name);
  op.params = {required("x", Param::Kind::tensor),
               optional("axis", Param::Kind::integer, Attr::integer(0))};
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.cost_ns = 100;
  op.group = "reductions";
  return op;
}

}  // namespace

void add_scan_ops(OpRegistry* registry) {
  OpDef cumsum = scan_op("cumsum", "running sums along an axis", infer_cumsum, cumsum_row);
  cumsum.params.push_back(optional("exclusive", Param::Kind::boolean, Attr::boolean(false)));
  cumsum.params.push_back(optional("reverse", Param::Kind::boolean, Attr::boolean(false)));
  registry->add(std::move(cumsum));
  OpDef argmax =
      scan_op("argmax", "where the largest entry stands along an axis, the first of equal ones",
              infer_arg, arg_row<true>);
  argmax.can_fail = true;
  registry->add(std::move(argmax));
  OpDef argmin =
      scan_op("argmin", "where the smallest entry stands along an axis, the first of equal ones",
              infer_arg, arg_row<false>);
  argmin.can_fail = true;
  registry->add(std::move(argmin));
}

}  // namespace penstock
