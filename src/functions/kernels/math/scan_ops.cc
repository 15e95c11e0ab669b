// Along one axis: cumsum, cumprod, argmax, argmin.

#include "functions/kernels/families.h"
#include "functions/kernels/math/axiswise.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/wrapping.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

template <typename T>
struct Sum {
  static constexpr T kStart{0};
  static T join(T a, T b) { return wrapping_add(a, b); }
};
template <typename T>
struct Product {
  static constexpr T kStart{1};
  static T join(T a, T b) { return wrapping_multiply(a, b); }
};

template <template <typename> typename Fold>
void run_cumulative(const AxisCall& call) {
  const bool exclusive = call.attrs["exclusive"].as_bool(),
             backwards = call.attrs["reverse"].as_bool();
  const Around& a = call.around;
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < a.lines(); ++i) {
      const T* in = reinterpret_cast<const T*>(call.in) + a.line(i);
      T* out = reinterpret_cast<T*>(call.out) + a.line(i);
      T so_far = Fold<T>::kStart;
      for (int64_t k = 0; k < a.size; ++k) {
        const int64_t at = (backwards ? a.size - 1 - k : k) * a.inner;
        const T next = Fold<T>::join(so_far, in[at]);
        out[at] = exclusive ? so_far : next;
        so_far = next;
      }
    }
  });
}

constexpr AxisKernel kCumsum{"cumsum", run_cumulative<Sum>};
constexpr AxisKernel kCumprod{"cumprod", run_cumulative<Product>};

Spec infer_arg(const InferContext& context) {
  const Shape shape = infer_axiswise(context).leaf.shape;
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
    for (int64_t i = 0; i < a.lines(); ++i) {
      const T* line = x.entries<T>() + a.line(i);
      int64_t best = 0;
      for (int64_t k = 1; k < a.size; ++k) {
        const T v = line[k * a.inner], top = line[best * a.inner];
        if ((largest ? v > top : v < top) || (top != top && v == v)) best = k;
      }
      *out++ = best;
    }
  });
}

template <bool largest>
OpDef arg_op(std::string doc) {
  return op_def(largest ? "argmax" : "argmin", std::move(doc), {tensor_param("x"), axis_param(0)},
                infer_arg, arg_row<largest>, {"reductions", 100, true});
}

std::vector<Param> directions() {
  return {optional("exclusive", Param::Kind::boolean, Attr::boolean(false)),
          optional("reverse", Param::Kind::boolean, Attr::boolean(false))};
}

}  // namespace

void add_scan_ops(OpRegistry* registry) {
  registry->add(axis_op<kCumsum>("running sums along an axis", 0, directions()));
  registry->add(axis_op<kCumprod>("running products along an axis", 0, directions()));
  registry->add(arg_op<true>(
      "where the largest entry stands along an axis, the first of equal ones; NaN is passed over"));
  registry->add(arg_op<false>("where the smallest entry stands along an axis, the first of equal "
                              "ones; NaN is passed over"));
}

}  // namespace penstock
