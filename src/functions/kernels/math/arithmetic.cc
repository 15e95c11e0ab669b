// + - * / // % ** and their kind. Integers wrap; `+` joins bytes.

#include <cmath>
#include <cstring>
#include <limits>

#include "functions/kernels/families.h"
#include "functions/kernels/math/constant_divisor.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/wrapping.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    return wrapping_add(a, b);
  }
};
struct Subtract {
  template <typename T>
  static T apply(T a, T b) {
    return wrapping_subtract(a, b);
  }
};
struct Multiply {
  template <typename T>
  static T apply(T a, T b) {
    return wrapping_multiply(a, b);
  }
};
struct Divide {
  template <typename T>
  static T apply(T a, T b) {
    return a / b;
  }
};
// NaN on either side is passed on, of equal ones the left is taken.
struct Maximum {
  template <typename T>
  static T apply(T a, T b) {
    return b > a || b != b ? b : a;
  }
};
struct Minimum {
  template <typename T>
  static T apply(T a, T b) {
    return b < a || b != b ? b : a;
  }
};

struct FloorDivide {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::floor(a / b);
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return Subtract::apply(T{0}, a);
        const T q = static_cast<T>(a / b);
        return a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(q - 1) : q;
      } else {
        return static_cast<T>(a / b);
      }
    }
  }
};

struct Modulo {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
        const T r = static_cast<T>(a % b);
        return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
      } else {
        return static_cast<T>(a % b);
      }
    }
  }
};

struct Power {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::pow(a, b);
    } else {
      if (b < T{0}) return 0;
      using U = Wrapping<T>;
      U base = static_cast<U>(a), out = 1;
      for (auto n = static_cast<std::make_unsigned_t<T>>(b); n != 0;
           n = static_cast<std::make_unsigned_t<T>>(n >> 1)) {
        if (n & 1) out *= base;
        base *= base;
      }
      return static_cast<T>(out);
    }
  }
};

template <typename Op>
void run_numbers(const EntrywiseCall& call) {
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) { run_binary<Op, T, T>(call); });
}

template <typename Op>
void run_floats(const EntrywiseCall& call) {
  if (call.dtype == DType::float64) {
    run_binary<Op, double, double>(call);
  } else {
    run_binary<Op, float, float>(call);
  }
}

// Integers by one divisor go without the divide instruction.
template <typename Op>
void run_division(const EntrywiseCall& call) {
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      const T divisor = *reinterpret_cast<const T*>(call.in[1]);
      if (call.in_entries[1] == 1 && call.in_entries[0] == call.plan.entries() && divisor > 0) {
        const auto* in = reinterpret_cast<const T*>(call.in[0]);
        auto* out = reinterpret_cast<T*>(call.out);
        if constexpr (std::is_same_v<Op, Modulo>) {
          ConstantDivisor<T>(divisor).remainders(in, out, call.in_entries[0]);
        } else {
          ConstantDivisor<T>(divisor).quotients(in, out, call.in_entries[0]);
        }
        return;
      }
    }
    run_binary<Op, T, T>(call);
  });
}

// True division computes in what it gives.
DType divide_compute_dtype(std::span<const DType>, DType output) { return compute_dtype(output); }

constexpr EntrywiseKernel kAdd{"add", 2, common_compute_dtype, false, run_numbers<Add>};
constexpr EntrywiseKernel kSubtract{"subtract", 2, common_compute_dtype, false,
                                    run_numbers<Subtract>};
constexpr EntrywiseKernel kMultiply{"multiply", 2, common_compute_dtype, false,
                                    run_numbers<Multiply>};
constexpr EntrywiseKernel kDivide{"divide", 2, divide_compute_dtype, false, run_floats<Divide>};
constexpr EntrywiseKernel kFloorDivide{
    "floor_divide",    2, common_compute_dtype, false, run_division<FloorDivide>, any_zero_integer,
    "division by zero"};
constexpr EntrywiseKernel kModulo{
    "modulo",          2, common_compute_dtype, false, run_division<Modulo>, any_zero_integer,
    "division by zero"};
constexpr EntrywiseKernel kPower{"power",
                                 2,
                                 common_compute_dtype,
                                 false,
                                 run_numbers<Power>,
                                 any_negative,
                                 "an integer to a negative power"};
constexpr EntrywiseKernel kMinimum{"minimum", 2, common_compute_dtype, false, run_numbers<Minimum>};
constexpr EntrywiseKernel kMaximum{"maximum", 2, common_compute_dtype, false, run_numbers<Maximum>};

struct Negative {
  template <typename T>
  static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return Subtract::apply(T{0}, a);
  }
};
struct Abs {
  template <typename T>
  static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(a);
    } else {
      using U = Wrapping<T>;  // without a branch: vectors have no choice between 64 bit numbers
      const auto sign = static_cast<U>(U{0} - static_cast<U>(a < T{0}));
      return static_cast<T>((static_cast<U>(a) ^ sign) - sign);
    }
  }
};
struct Sign {
  template <typename T>
  static T apply(T a) {
    if (a != a) return a;
    return static_cast<T>(static_cast<int>(a > T{0}) - static_cast<int>(a < T{0}));
  }
};

template <typename Op>
void run_each(const EntrywiseCall& call) {
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) { run_unary<Op, T>(call); });
}

constexpr EntrywiseKernel kNegative{"negative", 1, common_compute_dtype, false, run_each<Negative>};
constexpr EntrywiseKernel kAbs{"abs", 1, common_compute_dtype, false, run_each<Abs>};
constexpr EntrywiseKernel kSign{"sign", 1, common_compute_dtype, false, run_each<Sign>};

// Entries a + b behind one another in one buffer.
void join_bytes(const BroadcastPlan& plan, const BytesView* a, const BytesView* b, BytesView* out,
                BufferRef* keeper) {
  const bool steps_a = plan.steps(0), steps_b = plan.steps(1);
  int64_t total = 0;
  plan.for_each_run([&](int64_t, int64_t n, const auto& at) {
    for (int64_t i = 0; i < n; ++i) {
      total += a[at[0] + (steps_a ? i : 0)].size + b[at[1] + (steps_b ? i : 0)].size;
    }
  });
  const BufferRef storage = allocate_buffer(total);
  char* to = reinterpret_cast<char*>(storage.data());
  plan.for_each_run([&](int64_t first, int64_t n, const auto& at) {
    for (int64_t i = 0; i < n; ++i) {
      const BytesView &l = a[at[0] + (steps_a ? i : 0)], &r = b[at[1] + (steps_b ? i : 0)];
      out[first + i] = {to, l.size + r.size};
      if (l.size > 0) std::memcpy(to, l.data, static_cast<size_t>(l.size));
      if (r.size > 0) std::memcpy(to + l.size, r.data, static_cast<size_t>(r.size));
      to += l.size + r.size;
    }
  });
  keeper->keep(storage);
}

void add_row(const RowCall& call) {
  if (call.outputs[0].dtype() != DType::bytes) return run_entrywise_row(kAdd, call);
  const Tensor &a = call.inputs[0], &b = call.inputs[1];
  Tensor out = Tensor::make(DType::bytes, broadcast_dims("add", a.dims(), b.dims()));
  const std::array<Extents, 2> extents{Extents(a.dims()), Extents(b.dims())};
  join_bytes(*BroadcastPlan::make(extents), a.entries<BytesView>(), b.entries<BytesView>(),
             out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0].set(std::move(out));
}

bool add_block(const BlockCall& call) {
  if (call.output_dtypes[0] != DType::bytes) return run_entrywise_block(kAdd, call);
  const auto batch = batch_inputs(call);
  if (!batch || batch->all_constant) return false;
  Column out = Column::dense(DType::bytes, batch->row_dims, call.rows);
  const auto plan = BroadcastPlan::make(std::span(batch->extents).first(2));
  join_bytes(*plan, call.inputs[0].entries<BytesView>(), call.inputs[1].entries<BytesView>(),
             out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0] = std::move(out);
  return true;
}

Spec infer_add(const InferContext& context) {
  if (context.tensor(0).dtype != DType::bytes || context.tensor(1).dtype != DType::bytes) {
    return infer_entrywise(context);
  }
  return Spec::tensor(DType::bytes, infer_broadcast(context, 0, 1));
}

Spec infer_divide(const InferContext& context) {
  Spec out = infer_entrywise(context);
  DType& dtype = out.leaf.dtype;
  if (is_integer(dtype)) dtype = dtype_size(dtype) <= 2 ? DType::float32 : DType::float64;
  return out;
}

}  // namespace

void add_arithmetic_ops(OpRegistry* registry) {
  OpDef add = entrywise_op(kAdd, "a + b; joins bytes", add_row, add_block);
  add.infer = infer_add;
  registry->add(std::move(add));
  registry->add(entrywise_op<kSubtract>("a - b"));
  registry->add(entrywise_op<kMultiply>("a * b"));
  OpDef divide = entrywise_op<kDivide>(
      "a / b, true division: float32 of integers up to 16 bits, float64 of wider ones");
  divide.infer = infer_divide;
  divide.real_literals = [](std::span<const Tensor>) { return true; };
  registry->add(std::move(divide));
  registry->add(entrywise_op<kFloorDivide>("a // b, rounded down; integers by zero are an error"));
  registry->add(entrywise_op<kModulo>("a % b, with the sign of b; integers by zero are an error"));
  OpDef power = entrywise_op<kPower>("a ** b; an integer to a negative power is an error");
  power.real_literals = [](std::span<const Tensor> literals) {
    const Tensor& exponent = literals[1];
    return is_integer(exponent.dtype()) && exponent.entries_count() == 1 &&
           integer_at(exponent) < 0;
  };
  registry->add(std::move(power));
  registry->add(entrywise_op<kMinimum>("the smaller of a and b, NaN where one is"));
  registry->add(entrywise_op<kMaximum>("the larger of a and b, NaN where one is"));
  registry->add(entrywise_op<kNegative>("-x"));
  registry->add(entrywise_op<kAbs>("the absolute value"));
  registry->add(entrywise_op<kSign>("-1, 0 or 1; NaN of NaN"));
}

}  // namespace penstock
