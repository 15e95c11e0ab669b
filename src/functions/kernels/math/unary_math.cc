// Functions of one float.

#include <cmath>

#include "functions/kernels/families.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"

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
PENSTOCK_UNARY(Log, std::log(x));
PENSTOCK_UNARY(Log1p, std::log1p(x));
PENSTOCK_UNARY(Sqrt, std::sqrt(x));
PENSTOCK_UNARY(Rsqrt, T{1} / std::sqrt(x));
PENSTOCK_UNARY(Floor, std::floor(x));
PENSTOCK_UNARY(Ceil, std::ceil(x));
PENSTOCK_UNARY(Sin, std::sin(x));
PENSTOCK_UNARY(Cos, std::cos(x));
PENSTOCK_UNARY(Tanh, std::tanh(x));
PENSTOCK_UNARY(Square, x* x);
PENSTOCK_UNARY(Round, std::nearbyint(x));  // nobody changes the rounding mode: halves to even
#undef PENSTOCK_UNARY

template <typename Op>
void run(const EntrywiseCall& call) {
  const auto loop = [&]<typename T>(TypeTag<T>) {
    const T* __restrict in = reinterpret_cast<const T*>(call.in[0]);
    T* __restrict out = reinterpret_cast<T*>(call.out);
    for (int64_t i = 0; i < call.in_entries[0]; ++i) out[i] = Op::apply(in[i]);
  };
  if (call.dtype == DType::float64) {
    loop(TypeTag<double>{});
  } else {
    loop(TypeTag<float>{});
  }
}

constexpr EntrywiseKernel kExp{"exp", 1, common_compute_dtype, false, run<Exp>};
constexpr EntrywiseKernel kLog{"log", 1, common_compute_dtype, false, run<Log>};
constexpr EntrywiseKernel kLog1p{"log1p", 1, common_compute_dtype, false, run<Log1p>};
constexpr EntrywiseKernel kSqrt{"sqrt", 1, common_compute_dtype, false, run<Sqrt>};
constexpr EntrywiseKernel kRsqrt{"rsqrt", 1, common_compute_dtype, false, run<Rsqrt>};
constexpr EntrywiseKernel kFloor{"floor", 1, common_compute_dtype, false, run<Floor>};
constexpr EntrywiseKernel kCeil{"ceil", 1, common_compute_dtype, false, run<Ceil>};
constexpr EntrywiseKernel kRound{"round", 1, common_compute_dtype, false, run<Round>};
constexpr EntrywiseKernel kSin{"sin", 1, common_compute_dtype, false, run<Sin>};
constexpr EntrywiseKernel kCos{"cos", 1, common_compute_dtype, false, run<Cos>};
constexpr EntrywiseKernel kTanh{"tanh", 1, common_compute_dtype, false, run<Tanh>};
constexpr EntrywiseKernel kSquare{"square", 1, common_compute_dtype, false, run<Square>};

Spec infer_float(const InferContext& context) {
  const LeafSpec& type = infer_number(context, 0);
  if (!is_float(type.dtype))
    context.fail(0, "is " + type.text() + ", expected floats; cast it: float32(x)");
  return Spec::tensor(type.dtype, type.shape);
}

template <const EntrywiseKernel& kernel>
void add(OpRegistry* registry, std::string doc, double cost_ns) {
  OpDef op;
  op.name = kernel.name;
  op.params = {required("x", Param::Kind::tensor)};
  op.doc = std::move(doc);
  op.infer = infer_float;
  op.row = entrywise_row<kernel>;
  op.block = entrywise_block<kernel>;
  op.elementwise = true;
  op.cost_ns = cost_ns;
  op.group = "float math";
  registry->add(std::move(op));
}

}  // namespace

void add_unary_math_ops(OpRegistry* registry) {
  add<kExp>(registry, "e to the power x", 30);
  add<kLog>(registry, "the natural logarithm", 30);
  add<kLog1p>(registry, "log(1 + x), exact near 0", 40);
  add<kSqrt>(registry, "the square root", 20);
  add<kRsqrt>(registry, "1 / sqrt(x)", 20);
  add<kFloor>(registry, "rounded down", 20);
  add<kCeil>(registry, "rounded up", 20);
  add<kRound>(registry, "rounded to the nearest, halves to even", 20);
  add<kSin>(registry, "the sine of x radians", 30);
  add<kCos>(registry, "the cosine of x radians", 30);
  add<kTanh>(registry, "the hyperbolic tangent", 40);
  add<kSquare>(registry, "x * x", 20);
}

}  // namespace penstock
