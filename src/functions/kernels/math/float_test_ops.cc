// is_nan, is_inf, is_finite.

#include <cmath>

#include "functions/kernels/families.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"

namespace penstock {
namespace {

struct IsNan {
  template <typename T>
  static bool apply(T x) {
    return x != x;
  }
};
struct IsFinite {
  template <typename T>
  static bool apply(T x) {
    if constexpr (std::is_integral_v<T>) return true;
    return x - x == T{0};
  }
};
struct IsInf {
  template <typename T>
  static bool apply(T x) {
    return !IsFinite::apply(x) && x == x;
  }
};

template <typename Op>
void run(const EntrywiseCall& call) {
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) { run_unary<Op, T, bool>(call); });
}

constexpr EntrywiseKernel kIsNan{"is_nan", 1, common_compute_dtype, true, run<IsNan>};
constexpr EntrywiseKernel kIsInf{"is_inf", 1, common_compute_dtype, true, run<IsInf>};
constexpr EntrywiseKernel kIsFinite{"is_finite", 1, common_compute_dtype, true, run<IsFinite>};

template <const EntrywiseKernel& kernel>
void add(OpRegistry* registry, std::string doc) {
  OpDef op = entrywise_op<kernel>(std::move(doc));
  op.infer = [](const InferContext& context) {
    return Spec::tensor(DType::boolean, infer_number(context, 0).shape);
  };
  op.group = "logic";
  registry->add(std::move(op));
}

}  // namespace

void add_float_test_ops(OpRegistry* registry) {
  add<kIsNan>(registry, "where x is not a number");
  add<kIsInf>(registry, "where x is inf or -inf");
  add<kIsFinite>(registry, "where x is neither inf, -inf nor NaN");
}

}  // namespace penstock
