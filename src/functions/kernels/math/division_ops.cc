// Divisions that round otherwise than // and %, and functions of two numbers beside the operators.

#include <cmath>

#include "functions/kernels/families.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/wrapping.h"

namespace penstock {
namespace {

struct TruncateDivide {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::trunc(a / b);
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return wrapping_subtract(T{0}, a);  // the smallest has no positive
      }
      return static_cast<T>(a / b);
    }
  }
};
struct TruncateModulo {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return static_cast<T>(a % b);
    }
  }
};
struct DivideNoNan {
  template <typename T>
  static T apply(T a, T b) {
    return b == T{0} ? T{0} : a / b;
  }
};
struct Atan2 {
  template <typename T>
  static T apply(T a, T b) {
    return std::atan2(a, b);
  }
};
struct SquaredDifference {
  template <typename T>
  static T apply(T a, T b) {
    const T d = wrapping_subtract(a, b);
    return wrapping_multiply(d, d);
  }
};

template <typename Op>
void run_numbers(const EntrywiseCall& call) {
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) { run_binary<Op, T, T>(call); });
}
template <typename Op>
void run_floats(const EntrywiseCall& call) {
  if (call.dtype == DType::float64) return run_binary<Op, double, double>(call);
  run_binary<Op, float, float>(call);
}

constexpr EntrywiseKernel kDivide{"truncate_divide",           2,
                                  common_compute_dtype,        false,
                                  run_numbers<TruncateDivide>, any_zero_integer,
                                  "division by zero"};
constexpr EntrywiseKernel kModulo{"truncate_modulo",           2,
                                  common_compute_dtype,        false,
                                  run_numbers<TruncateModulo>, any_zero_integer,
                                  "division by zero"};
constexpr EntrywiseKernel kDivideNoNan{"divide_no_nan", 2, common_compute_dtype, false,
                                       run_floats<DivideNoNan>};
constexpr EntrywiseKernel kAtan2{"atan2", 2, common_compute_dtype, false, run_floats<Atan2>};
constexpr EntrywiseKernel kSquaredDifference{"squared_difference", 2, common_compute_dtype, false,
                                             run_numbers<SquaredDifference>};

Spec infer_floats(const InferContext& context) {
  for (int i = 0; i < 2; ++i) {
    const LeafSpec& type = infer_number(context, i);
    if (!is_float(type.dtype))
      context.fail(i, "is " + type.text() + ", expected floats; cast it: float32(x)");
  }
  return infer_entrywise(context);
}

template <const EntrywiseKernel& kernel>
void add_float(OpRegistry* registry, std::string doc) {
  OpDef op = entrywise_op<kernel>(std::move(doc));
  op.infer = infer_floats;
  registry->add(std::move(op));
}

}  // namespace

void add_division_ops(OpRegistry* registry) {
  registry->add(entrywise_op<kDivide>("a / b without its fraction; integers by zero are an error"));
  registry->add(entrywise_op<kModulo>(
      "what is left of truncate_divide, with the sign of a; integers by zero are an error"));
  add_float<kDivideNoNan>(registry, "a / b, but 0 where b is 0");
  add_float<kAtan2>(registry, "the angle in radians of the point (b, a)");
  registry->add(entrywise_op<kSquaredDifference>("(a - b) * (a - b)"));
}

}  // namespace penstock
