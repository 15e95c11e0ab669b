// sort, argsort, top_k, in_top_k. Equal entries keep their order. NaN counts as the largest number:
// last when ascending, first when descending.

#include <algorithm>
#include <numeric>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/axiswise.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/ordering.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/radix_order.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// The places of the first `count` entries of a line in order.
template <typename T>
void order_line(const T* line, int64_t n, int64_t step, bool descending, int64_t count,
                ChargedVector<int64_t>* places) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (count == n && n >= kLeastForRadix && n <= UINT32_MAX)
      return radix_order(line, n, step, descending, places);
  }
  places->resize(static_cast<size_t>(n));
  std::iota(places->begin(), places->end(), int64_t{0});
  const auto earlier = [&](int64_t i, int64_t j) {
    const T &a = line[i * step], &b = line[j * step];
    if (descending ? comes_before(b, a) : comes_before(a, b)) return true;
    return !(descending ? comes_before(a, b) : comes_before(b, a)) && i < j;
  };
  if (count < n) {
    std::partial_sort(places->begin(), places->begin() + count, places->end(), earlier);
  } else {
    std::sort(places->begin(), places->end(), earlier);
  }
}

bool descends(const Attrs& attrs) { return attrs["descending"].as_bool(); }

template <bool gives_places>
void run_sort(const AxisCall& call) {
  const Around& a = call.around;
  ChargedVector<int64_t> places;
  visit_ordered(call.dtype, [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < a.lines(); ++i) {
      const T* line = reinterpret_cast<const T*>(call.in) + a.line(i);
      order_line(line, a.size, a.inner, descends(call.attrs), a.size, &places);
      for (int64_t k = 0; k < a.size; ++k) {
        const int64_t place = places[static_cast<size_t>(k)];
        if constexpr (gives_places) {
          reinterpret_cast<int64_t*>(call.out)[a.line(i) + k * a.inner] = place;
        } else {
          reinterpret_cast<T*>(call.out)[a.line(i) + k * a.inner] = line[place * a.inner];
        }
      }
    }
  });
}

constexpr AxisKernel kSort{"sort", run_sort<false>};
constexpr AxisKernel kArgsort{"argsort", run_sort<true>};

Spec infer_sort(const InferContext& context) { return infer_axiswise(context, true); }

Spec infer_argsort(const InferContext& context) {
  return Spec::tensor(DType::int64, infer_axiswise(context, true).leaf.shape);
}

Spec infer_top_k(const InferContext& context) {
  const LeafSpec& type = infer_number(context, 0);
  infer_integers(context, 1, 0);
  const std::vector<int64_t> k = context.known_ints(1);
  if (!k.empty() && k[0] < 0) context.fail(1, "must not be negative: " + std::to_string(k[0]));
  if (!type.shape.has_rank()) {
    return Spec::tuple(
        {Spec::tensor(type.dtype, type.shape), Spec::tensor(DType::int64, type.shape)});
  }
  if (type.shape.rank() == 0) context.fail(0, "is a scalar, expected a vector or more");
  std::vector<int64_t> sizes = type.shape.sizes();
  if (!k.empty() && sizes.back() >= 0 && k[0] > sizes.back()) {
    context.fail(1, "is " + std::to_string(k[0]) + ", the last axis has " +
                        std::to_string(sizes.back()) + " entries");
  }
  sizes.back() = k.empty() ? Shape::kUnknown : k[0];
  const Shape shape(std::move(sizes));
  return Spec::tuple({Spec::tensor(type.dtype, shape), Spec::tensor(DType::int64, shape)});
}

void top_k_row(const RowCall& call) {
  const Tensor &given = call.inputs[0], x = converted(given, compute_dtype(given.dtype()));
  const int64_t k = integer_at(call.inputs[1]);
  Dims dims = x.dims();
  if (dims.rank() == 0) fail_row("top_k", "a scalar has no largest entries");
  const Around a = around(dims, dims.rank() - 1);
  if (k < 0 || k > a.size) {
    fail_row("top_k",
             "k must lie between 0 and " + std::to_string(a.size) + ": " + std::to_string(k));
  }
  dims[dims.rank() - 1] = k;
  Tensor values = Tensor::make(x.dtype(), dims);
  auto* indices = call.outputs[1].allocate_as<int64_t>(dims);
  ChargedVector<int64_t> places;
  visit_number(x.dtype(), [&]<typename T>(TypeTag<T>) {
    T* out = values.mutable_entries<T>();
    for (int64_t i = 0; i < a.outer; ++i) {
      const T* line = x.entries<T>() + i * a.size;
      order_line(line, a.size, 1, true, k, &places);
      for (int64_t j = 0; j < k; ++j) {
        *indices++ = places[static_cast<size_t>(j)];
        *out++ = line[places[static_cast<size_t>(j)]];
      }
    }
  });
  call.outputs[0].set(converted(values, call.outputs[0].dtype()));
}

Spec infer_in_top_k(const InferContext& context) {
  infer_number(context, 0);
  context.check_rank(0, 2);
  infer_integers(context, 1, 1);
  infer_integers(context, 2, 0);
  return Spec::tensor(DType::boolean, context.tensor(1).shape);
}

// Whether fewer than k entries are larger than the target's; never for NaN and inf, or no entry.
void in_top_k_row(const RowCall& call) {
  const Tensor x = converted(call.inputs[0], DType::float64);
  const Tensor& targets = call.inputs[1];
  const int64_t k = integer_at(call.inputs[2]), n = targets.entries_count();
  if (x.dims().rank() != 2 || x.dims()[0] != n) {
    fail_row("in_top_k",
             "predictions of shape " + x.dims().text() + " for " + std::to_string(n) + " targets");
  }
  auto* out = call.outputs[0].allocate_as<bool>(targets.dims());
  const int64_t classes = x.dims()[1];
  for (int64_t i = 0; i < n; ++i) {
    const double* line = x.entries<double>() + i * classes;
    const int64_t target = integer_at(targets, i);
    bool counts = target >= 0 && target < classes;
    for (int64_t j = 0; counts && j < classes; ++j) counts = line[j] - line[j] == 0;
    int64_t larger = 0;
    for (int64_t j = 0; counts && j < classes; ++j) larger += line[j] > line[target];
    out[i] = counts && larger < k;
  }
}

template <const AxisKernel& kernel>
void add(OpRegistry* registry, std::string doc, Spec (*infer)(const InferContext&)) {
  OpDef op = axis_op<kernel>(std::move(doc), -1,
                             {optional("descending", Param::Kind::boolean, Attr::boolean(false))});
  op.infer = infer;
  op.cost_ns = 300;
  op.group = "order";
  registry->add(std::move(op));
}

}  // namespace

void add_sort_ops(OpRegistry* registry) {
  add<kSort>(registry, "the entries in order along an axis; NaN counts as the largest", infer_sort);
  add<kArgsort>(registry, "where the entries of sort(x) stand in x; equal ones keep their order",
                infer_argsort);
  registry->add(op_def("top_k", "(the k largest entries along the last axis, where they stand)",
                       {tensor_param("x"), tensor_param("k")}, infer_top_k, top_k_row,
                       {"order", 300, true}));
  registry->add(op_def("in_top_k", "whether each row's target is among the k largest predictions",
                       {tensor_param("predictions"), tensor_param("targets"), tensor_param("k")},
                       infer_in_top_k, in_top_k_row, {"order", 200, true}));
}

}  // namespace penstock
