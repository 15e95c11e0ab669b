// reduce_sum, reduce_mean, reduce_prod, reduce_min, reduce_max, reduce_any, reduce_all.
//
// Sums and products of floats are accumulated in double and rounded once. Those of integers keep
// their dtype and wrap; integer means drop the fraction. Of nothing, the smallest is inf or the
// dtype's largest value.

#include <algorithm>
#include <limits>

#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/reduce_axes.h"
#include "functions/kernels/math/shape_arguments.h"

namespace penstock {
namespace {

// What sums and products of T are kept in until they are done.
template <typename T>
using Total = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

template <typename Acc>
void divide_by(int64_t count, bool is_signed, Acc* totals, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<Acc>) {
      totals[i] /= static_cast<double>(count);
    } else if (count == 0) {
      totals[i] = 0;
    } else if (is_signed) {
      totals[i] = static_cast<uint64_t>(static_cast<int64_t>(totals[i]) / count);
    } else {
      totals[i] /= static_cast<uint64_t>(count);
    }
  }
}

enum class Fold : uint8_t { sum, mean, product };

template <Fold fold>
void run_total(const ReduceCall& given) {
  visit_number(given.dtype, [&]<typename T>(TypeTag<T>) {
    using Acc = Total<T>;
    const Walk& w = given.walk;
    Tensor totals = Tensor::make(DTypeOf<Acc>::value, {w.results});
    Acc* acc = totals.mutable_entries<Acc>();
    std::fill_n(acc, w.results, Acc{fold == Fold::product ? 1 : 0});
    const T* entries = reinterpret_cast<const T*>(given.in);
    if constexpr (fold == Fold::product) {
      reduce(entries, w, acc, [](Acc a, T v) { return a * static_cast<Acc>(v); });
    } else {
      reduce(entries, w, acc, [](Acc a, T v) { return a + static_cast<Acc>(v); });
    }
    if constexpr (fold == Fold::mean) divide_by(w.reduced, std::is_signed_v<T>, acc, w.results);
    convert_entries(totals.dtype(), totals.data(), given.dtype, given.out, w.results);
  });
}

// Which entry is looked at first does not matter to the extremes.
constexpr int kLanes = 16;

template <bool smallest>
void run_extreme(const ReduceCall& call) {
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) {
    using Limits = std::numeric_limits<T>;
    const T top = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T bottom = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const T* in = reinterpret_cast<const T*>(call.in);
    T* to = reinterpret_cast<T*>(call.out);
    std::fill_n(to, call.walk.results, smallest ? top : bottom);
    if (smallest) {
      reduce<kLanes>(in, call.walk, to, [](T a, T v) { return v < a || v != v ? v : a; });
    } else {
      reduce<kLanes>(in, call.walk, to, [](T a, T v) { return v > a || v != v ? v : a; });
    }
  });
}

template <bool all>
void run_logical(const ReduceCall& call) {
  auto* to = reinterpret_cast<uint8_t*>(call.out);
  const auto* in = reinterpret_cast<const uint8_t*>(call.in);
  std::fill_n(to, call.walk.results, static_cast<uint8_t>(all));
  if (all) {
    reduce(in, call.walk, to, [](uint8_t a, uint8_t v) { return static_cast<uint8_t>(a & v); });
  } else {
    reduce(in, call.walk, to, [](uint8_t a, uint8_t v) { return static_cast<uint8_t>(a | v); });
  }
}

constexpr ReduceKernel kSum{"reduce_sum", run_total<Fold::sum>};
constexpr ReduceKernel kMean{"reduce_mean", run_total<Fold::mean>};
constexpr ReduceKernel kProduct{"reduce_prod", run_total<Fold::product>};
constexpr ReduceKernel kMin{"reduce_min", run_extreme<true>};
constexpr ReduceKernel kMax{"reduce_max", run_extreme<false>};
constexpr ReduceKernel kAny{"reduce_any", run_logical<false>};
constexpr ReduceKernel kAll{"reduce_all", run_logical<true>};

template <const ReduceKernel& kernel>
OpDef logical_op(std::string doc) {
  OpDef op = reduce_op<kernel>(std::move(doc));
  op.infer = [](const InferContext& context) {
    return Spec::tensor(DType::boolean,
                        infer_reduced(context, context.tensor_of(0, DType::boolean).shape));
  };
  return op;
}

}  // namespace

void add_reduction_ops(OpRegistry* registry) {
  registry->add(reduce_op<kSum>(
      "the sum over the axes named, or over all; integers keep their dtype and wrap"));
  registry->add(reduce_op<kMean>(
      "the mean over the axes named, or over all; of integers without the fraction"));
  registry->add(reduce_op<kProduct>(
      "the product over the axes named, or over all; integers keep their dtype and wrap"));
  registry->add(
      reduce_op<kMin>("the smallest entry along the axes named, or of all; NaN where one is"));
  registry->add(
      reduce_op<kMax>("the largest entry along the axes named, or of all; NaN where one is"));
  registry->add(logical_op<kAny>("whether an entry is true along the axes named, or of all"));
  registry->add(logical_op<kAll>("whether all entries are true along the axes named, or of all"));
}

}  // namespace penstock
