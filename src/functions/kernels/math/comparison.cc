// == != < <= > >= on numbers, bool and bytes; and, or, xor, not.

#include "functions/kernels/families.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"

namespace penstock {
namespace {

template <typename T, typename F>
bool compared(const T& a, const T& b, F f) {
  if constexpr (std::is_same_v<T, BytesView>) {
    return f(a.view(), b.view());
  } else {
    return f(a, b);
  }
}

struct Equal {
  template <typename T>
  static bool apply(const T& a, const T& b) {
    return compared(a, b, [](auto x, auto y) { return x == y; });
  }
};
struct NotEqual {
  template <typename T>
  static bool apply(const T& a, const T& b) {
    return compared(a, b, [](auto x, auto y) { return x != y; });
  }
};
struct Less {
  template <typename T>
  static bool apply(const T& a, const T& b) {
    return compared(a, b, [](auto x, auto y) { return x < y; });
  }
};
struct LessEqual {
  template <typename T>
  static bool apply(const T& a, const T& b) {
    return compared(a, b, [](auto x, auto y) { return x <= y; });
  }
};
struct Greater {
  template <typename T>
  static bool apply(const T& a, const T& b) {
    return compared(a, b, [](auto x, auto y) { return x > y; });
  }
};
struct GreaterEqual {
  template <typename T>
  static bool apply(const T& a, const T& b) {
    return compared(a, b, [](auto x, auto y) { return x >= y; });
  }
};
struct And {
  static uint8_t apply(uint8_t a, uint8_t b) { return a & b; }
};
struct Or {
  static uint8_t apply(uint8_t a, uint8_t b) { return a | b; }
};

template <typename Op>
void run_comparison(const EntrywiseCall& call) {
  if (call.dtype == DType::bytes) return run_binary<Op, BytesView, bool>(call);
  if (call.dtype == DType::boolean) return run_binary<Op, uint8_t, bool>(call);
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) { run_binary<Op, T, bool>(call); });
}

struct Xor {
  static uint8_t apply(uint8_t a, uint8_t b) { return a ^ b; }
};

void run_not(const EntrywiseCall& call) {
  const auto* in = reinterpret_cast<const bool*>(call.in[0]);
  auto* out = reinterpret_cast<bool*>(call.out);
  for (int64_t i = 0; i < call.in_entries[0]; ++i) out[i] = !in[i];
}

constexpr EntrywiseKernel kEqual{"equal", 2, common_compute_dtype, true, run_comparison<Equal>};
constexpr EntrywiseKernel kNotEqual{"not_equal", 2, common_compute_dtype, true,
                                    run_comparison<NotEqual>};
constexpr EntrywiseKernel kLess{"less", 2, common_compute_dtype, true, run_comparison<Less>};
constexpr EntrywiseKernel kLessEqual{"less_equal", 2, common_compute_dtype, true,
                                     run_comparison<LessEqual>};
constexpr EntrywiseKernel kGreater{"greater", 2, common_compute_dtype, true,
                                   run_comparison<Greater>};
constexpr EntrywiseKernel kGreaterEqual{"greater_equal", 2, common_compute_dtype, true,
                                        run_comparison<GreaterEqual>};
constexpr EntrywiseKernel kAnd{"logical_and", 2, common_compute_dtype, true,
                               run_binary<And, uint8_t, uint8_t>};
constexpr EntrywiseKernel kOr{"logical_or", 2, common_compute_dtype, true,
                              run_binary<Or, uint8_t, uint8_t>};
constexpr EntrywiseKernel kXor{"logical_xor", 2, common_compute_dtype, true,
                               run_binary<Xor, uint8_t, uint8_t>};
constexpr EntrywiseKernel kNot{"logical_not", 1, common_compute_dtype, true, run_not};

Spec infer_comparison(const InferContext& context) {
  infer_promoted(context, 0, 1);
  return Spec::tensor(DType::boolean, infer_broadcast(context, 0, 1));
}

void infer_bool(const InferContext& context, int i) {
  const LeafSpec& type = context.tensor(i);
  if (type.dtype == DType::boolean) return;
  const char* hint = is_number(type.dtype) ? "; compare it: x != 0" : "";
  context.fail(i, "is " + type.text() + ", expected bool" + hint);
}

Spec infer_logical(const InferContext& context) {
  infer_bool(context, 0);
  infer_bool(context, 1);
  return Spec::tensor(DType::boolean, infer_broadcast(context, 0, 1));
}

Spec infer_not(const InferContext& context) {
  infer_bool(context, 0);
  return Spec::tensor(DType::boolean, context.tensor(0).shape);
}

template <const EntrywiseKernel& kernel>
OpDef logic_op(std::string doc, Spec (*infer)(const InferContext&)) {
  OpDef op = entrywise_op<kernel>(std::move(doc));
  op.infer = infer;
  op.group = "logic";
  return op;
}

}  // namespace

void add_comparison_ops(OpRegistry* registry) {
  registry->add(logic_op<kEqual>("a == b", infer_comparison));
  registry->add(logic_op<kNotEqual>("a != b", infer_comparison));
  registry->add(logic_op<kLess>("a < b; bytes by their values", infer_comparison));
  registry->add(logic_op<kLessEqual>("a <= b", infer_comparison));
  registry->add(logic_op<kGreater>("a > b", infer_comparison));
  registry->add(logic_op<kGreaterEqual>("a >= b", infer_comparison));
  registry->add(logic_op<kAnd>("a and b", infer_logical));
  registry->add(logic_op<kOr>("a or b", infer_logical));
  registry->add(logic_op<kXor>("one of a and b, not both", infer_logical));
  registry->add(logic_op<kNot>("not x", infer_not));
}

}  // namespace penstock
