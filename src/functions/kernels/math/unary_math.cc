// Functions of one number.

#include <cmath>

#include "functions/kernels/families.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/special_functions.h"
#include "functions/kernels/math/wrapping.h"

namespace penstock {
namespace {

#define PENSTOCK_UNARY(Name, expression) \
  struct Name {                          \
    template <typename T>                \
    static T apply(T x) {                \
      return expression;                 \
    }                                    \
  }

PENSTOCK_UNARY(Exp, std::exp(x));
PENSTOCK_UNARY(Expm1, std::expm1(x));
PENSTOCK_UNARY(Log, std::log(x));
PENSTOCK_UNARY(Log1p, std::log1p(x));
PENSTOCK_UNARY(Log2, std::log2(x));
PENSTOCK_UNARY(Log10, std::log10(x));
PENSTOCK_UNARY(Sqrt, std::sqrt(x));
PENSTOCK_UNARY(Rsqrt, T{1} / std::sqrt(x));
PENSTOCK_UNARY(Reciprocal, T{1} / x);
PENSTOCK_UNARY(Sin, std::sin(x));
PENSTOCK_UNARY(Cos, std::cos(x));
PENSTOCK_UNARY(Tan, std::tan(x));
PENSTOCK_UNARY(Asin, std::asin(x));
PENSTOCK_UNARY(Acos, std::acos(x));
PENSTOCK_UNARY(Atan, std::atan(x));
PENSTOCK_UNARY(Sinh, std::sinh(x));
PENSTOCK_UNARY(Cosh, std::cosh(x));
PENSTOCK_UNARY(Tanh, std::tanh(x));
PENSTOCK_UNARY(Asinh, std::asinh(x));
PENSTOCK_UNARY(Acosh, std::acosh(x));
PENSTOCK_UNARY(Atanh, std::atanh(x));
PENSTOCK_UNARY(Erf, std::erf(x));
PENSTOCK_UNARY(Erfc, std::erfc(x));
PENSTOCK_UNARY(Sigmoid, T{1} / (T{1} + std::exp(-x)));
// Of its own: std::lgamma writes the sign to a global.
struct Lgamma {
  template <typename T>
  static T apply(T x) {
    int sign = 0;
    return static_cast<T>(lgamma_r(static_cast<double>(x), &sign));
  }
};
PENSTOCK_UNARY(Digamma, static_cast<T>(digamma(static_cast<double>(x))));
PENSTOCK_UNARY(Erfinv, static_cast<T>(erfinv(static_cast<double>(x))));
// log(1 + e^x) without overflow; NaN stays.
PENSTOCK_UNARY(Softplus, (x > T{0} ? x : T{0}) + std::log1p(std::exp(-std::fabs(x))));

// Of integers, too: these are whole already.
PENSTOCK_UNARY(Floor, std::is_integral_v<T> ? x : static_cast<T>(std::floor(x)));
PENSTOCK_UNARY(Ceil, std::is_integral_v<T> ? x : static_cast<T>(std::ceil(x)));
// Nobody changes the rounding mode: halves go to even.
PENSTOCK_UNARY(Round, std::is_integral_v<T> ? x : static_cast<T>(std::nearbyint(x)));
PENSTOCK_UNARY(Square, wrapping_multiply(x, x));
PENSTOCK_UNARY(Relu, x < T{0} ? T{0} : x);
PENSTOCK_UNARY(Relu6, x<T{0} ? T{0} : x> T{6} ? T{6} : x);
PENSTOCK_UNARY(Elu, x < T{0} ? std::expm1(x) : x);
// The constants with which a layer keeps mean 0 and variance 1: scale, and scale * alpha.
PENSTOCK_UNARY(Selu, x < T{0} ? static_cast<T>(1.7580993408473768599) * std::expm1(x)
                              : static_cast<T>(1.0507009873554804934) * x);
#undef PENSTOCK_UNARY

template <typename Op>
void run(const EntrywiseCall& call) {
  if (call.dtype == DType::float64) {
    run_unary<Op, double>(call);
  } else {
    run_unary<Op, float>(call);
  }
}

template <typename Op>
void run_any(const EntrywiseCall& call) {
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) { run_unary<Op, T>(call); });
}

#define PENSTOCK_FLOAT_KERNEL(Name, text) \
  constexpr EntrywiseKernel k##Name { text, 1, common_compute_dtype, false, run<Name> }
PENSTOCK_FLOAT_KERNEL(Exp, "exp");
PENSTOCK_FLOAT_KERNEL(Expm1, "expm1");
PENSTOCK_FLOAT_KERNEL(Log, "log");
PENSTOCK_FLOAT_KERNEL(Log1p, "log1p");
PENSTOCK_FLOAT_KERNEL(Log2, "log2");
PENSTOCK_FLOAT_KERNEL(Log10, "log10");
PENSTOCK_FLOAT_KERNEL(Sqrt, "sqrt");
PENSTOCK_FLOAT_KERNEL(Rsqrt, "rsqrt");
PENSTOCK_FLOAT_KERNEL(Reciprocal, "reciprocal");
PENSTOCK_FLOAT_KERNEL(Sin, "sin");
PENSTOCK_FLOAT_KERNEL(Cos, "cos");
PENSTOCK_FLOAT_KERNEL(Tan, "tan");
PENSTOCK_FLOAT_KERNEL(Asin, "asin");
PENSTOCK_FLOAT_KERNEL(Acos, "acos");
PENSTOCK_FLOAT_KERNEL(Atan, "atan");
PENSTOCK_FLOAT_KERNEL(Sinh, "sinh");
PENSTOCK_FLOAT_KERNEL(Cosh, "cosh");
PENSTOCK_FLOAT_KERNEL(Tanh, "tanh");
PENSTOCK_FLOAT_KERNEL(Asinh, "asinh");
PENSTOCK_FLOAT_KERNEL(Acosh, "acosh");
PENSTOCK_FLOAT_KERNEL(Atanh, "atanh");
PENSTOCK_FLOAT_KERNEL(Erf, "erf");
PENSTOCK_FLOAT_KERNEL(Erfc, "erfc");
PENSTOCK_FLOAT_KERNEL(Erfinv, "erfinv");
PENSTOCK_FLOAT_KERNEL(Lgamma, "lgamma");
PENSTOCK_FLOAT_KERNEL(Digamma, "digamma");
PENSTOCK_FLOAT_KERNEL(Sigmoid, "sigmoid");
PENSTOCK_FLOAT_KERNEL(Softplus, "softplus");
PENSTOCK_FLOAT_KERNEL(Elu, "elu");
PENSTOCK_FLOAT_KERNEL(Selu, "selu");
#undef PENSTOCK_FLOAT_KERNEL

constexpr EntrywiseKernel kFloor{"floor", 1, common_compute_dtype, false, run_any<Floor>};
constexpr EntrywiseKernel kCeil{"ceil", 1, common_compute_dtype, false, run_any<Ceil>};
constexpr EntrywiseKernel kRound{"round", 1, common_compute_dtype, false, run_any<Round>};
constexpr EntrywiseKernel kSquare{"square", 1, common_compute_dtype, false, run_any<Square>};
constexpr EntrywiseKernel kRelu{"relu", 1, common_compute_dtype, false, run_any<Relu>};
constexpr EntrywiseKernel kRelu6{"relu6", 1, common_compute_dtype, false, run_any<Relu6>};

Spec infer_float(const InferContext& context) {
  const LeafSpec& type = infer_number(context, 0);
  if (!is_float(type.dtype))
    context.fail(0, "is " + type.text() + ", expected floats; cast it: float32(x)");
  return Spec::tensor(type.dtype, type.shape);
}

template <const EntrywiseKernel& kernel>
void add_float(OpRegistry* registry, std::string doc, double cost_ns) {
  OpDef op = entrywise_op<kernel>(std::move(doc));
  op.infer = infer_float;
  op.cost_ns = cost_ns;
  op.group = "float math";
  op.real_literals = [](std::span<const Tensor>) { return true; };
  registry->add(std::move(op));
}

}  // namespace

void add_unary_math_ops(OpRegistry* registry) {
  add_float<kExp>(registry, "e to the power x", 30);
  add_float<kExpm1>(registry, "e to the power x, less 1; exact near 0", 40);
  add_float<kLog>(registry, "the natural logarithm", 30);
  add_float<kLog1p>(registry, "log(1 + x), exact near 0", 40);
  add_float<kLog2>(registry, "the logarithm to base 2", 30);
  add_float<kLog10>(registry, "the logarithm to base 10", 30);
  add_float<kSqrt>(registry, "the square root", 20);
  add_float<kRsqrt>(registry, "1 / sqrt(x)", 20);
  add_float<kReciprocal>(registry, "1 / x", 20);
  add_float<kSin>(registry, "the sine of x radians", 30);
  add_float<kCos>(registry, "the cosine of x radians", 30);
  add_float<kTan>(registry, "the tangent of x radians", 40);
  add_float<kAsin>(registry, "the angle in radians whose sine is x", 40);
  add_float<kAcos>(registry, "the angle in radians whose cosine is x", 40);
  add_float<kAtan>(registry, "the angle in radians whose tangent is x", 40);
  add_float<kSinh>(registry, "the hyperbolic sine", 40);
  add_float<kCosh>(registry, "the hyperbolic cosine", 40);
  add_float<kTanh>(registry, "the hyperbolic tangent", 40);
  add_float<kAsinh>(registry, "the number whose hyperbolic sine is x", 50);
  add_float<kAcosh>(registry, "the positive number whose hyperbolic cosine is x", 50);
  add_float<kAtanh>(registry, "the number whose hyperbolic tangent is x", 50);
  add_float<kErf>(registry, "the error function", 40);
  add_float<kErfc>(registry, "1 - erf(x), exact for large x", 50);
  add_float<kErfinv>(registry, "the number whose erf is x; infinite at 1 and -1", 150);
  add_float<kDigamma>(registry, "the derivative of lgamma", 80);
  add_float<kLgamma>(registry, "the logarithm of the absolute value of the gamma function", 60);
  add_float<kSigmoid>(registry, "1 / (1 + exp(-x))", 40);
  add_float<kSoftplus>(registry, "log(1 + exp(x))", 60);
  add_float<kElu>(registry, "x, but exp(x) - 1 where x is negative", 40);
  add_float<kSelu>(registry, "1.0507 * x, but 1.7581 * (exp(x) - 1) where x is negative", 40);
  registry->add(entrywise_op<kFloor>("rounded down"));
  registry->add(entrywise_op<kCeil>("rounded up"));
  registry->add(entrywise_op<kRound>("rounded to the nearest, halves to even"));
  registry->add(entrywise_op<kSquare>("x * x"));
  registry->add(entrywise_op<kRelu>("x, but 0 where x is negative; NaN stays"));
  registry->add(
      entrywise_op<kRelu6>("x, but 0 where x is negative and 6 where it is more; NaN stays"));
}

}  // namespace penstock
