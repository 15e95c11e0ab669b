// Bits of integers: and, or, xor, invert, shifts.
//
// A shift by the dtype's width or more gives what shifting bit by bit would: 0, or -1 where a
// negative number is shifted right. A negative count is an error.

#include "functions/kernels/families.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"

namespace penstock {
namespace {

struct And {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Invert {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct LeftShift {
  template <typename T>
  static T apply(T a, T b) {
    constexpr T kBits = 8 * sizeof(T);
    if (b < T{0} || b >= kBits) return 0;
    return static_cast<T>(static_cast<uint64_t>(a) << static_cast<int>(b));
  }
};
struct RightShift {
  template <typename T>
  static T apply(T a, T b) {
    constexpr T kBits = 8 * sizeof(T);
    if (b < T{0}) return 0;
    const T in_range = static_cast<T>(a >> static_cast<int>(b < kBits ? b : kBits - 1));
    return b < kBits ? in_range : static_cast<T>(in_range >> 1);
  }
};

template <typename F>
void visit_integer(DType dtype, F&& f) {
  visit_number(dtype, [&]<typename T>(TypeTag<T> tag) {
    if constexpr (std::is_integral_v<T>) f(tag);
  });
}
template <typename Op>
void run_two(const EntrywiseCall& call) {
  visit_integer(call.dtype, [&]<typename T>(TypeTag<T>) { run_binary<Op, T, T>(call); });
}
void run_invert(const EntrywiseCall& call) {
  visit_integer(call.dtype, [&]<typename T>(TypeTag<T>) { run_unary<Invert, T>(call); });
}

constexpr std::string_view kNegative = "the count must not be negative";
constexpr EntrywiseKernel kAnd{"bitwise_and", 2, common_compute_dtype, false, run_two<And>};
constexpr EntrywiseKernel kOr{"bitwise_or", 2, common_compute_dtype, false, run_two<Or>};
constexpr EntrywiseKernel kXor{"bitwise_xor", 2, common_compute_dtype, false, run_two<Xor>};
constexpr EntrywiseKernel kInvert{"bitwise_invert", 1, common_compute_dtype, false, run_invert};
constexpr EntrywiseKernel kLeft{
    "left_shift", 2, common_compute_dtype, false, run_two<LeftShift>, any_negative, kNegative};
constexpr EntrywiseKernel kRight{
    "right_shift", 2, common_compute_dtype, false, run_two<RightShift>, any_negative, kNegative};

template <const EntrywiseKernel& kernel>
void add(OpRegistry* registry, std::string doc) {
  OpDef op = entrywise_op<kernel>(std::move(doc));
  op.infer = [](const InferContext& context) {
    for (int i = 0; i < kernel.inputs; ++i) {
      const LeafSpec& type = context.tensor(i);
      if (!is_integer(type.dtype)) context.fail(i, "is " + type.text() + ", expected integers");
    }
    return infer_entrywise(context);
  };
  registry->add(std::move(op));
}

}  // namespace

void add_bit_ops(OpRegistry* registry) {
  add<kAnd>(registry, "the bits that a and b have both");
  add<kOr>(registry, "the bits that a or b has");
  add<kXor>(registry, "the bits that one of a and b has");
  add<kInvert>(registry, "all bits of x turned over");
  add<kLeft>(registry, "a times 2 ** b, wrapped; a negative count is an error");
  add<kRight>(registry, "a shifted down by b bits, the sign kept; a negative count is an error");
}

}  // namespace penstock
