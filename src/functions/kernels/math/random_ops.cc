// random_uniform, random_normal: drawn for each row from the row's own stream.

#include <cmath>
#include <numbers>

#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"

namespace penstock {
namespace {

RandomStream stream_of(const RowCall& call) {
  const Attr& seed = call.attrs["seed"];
  const uint64_t value = seed.is_none() ? 0 : static_cast<uint64_t>(seed.as_int());
  return RandomStream(value, call.row.epoch, call.row.lineage, call.row.round);
}

// `a` and `b` are scalars that dtype can take.
Spec infer_random(const InferContext& context, const char* what) {
  const DType dtype = context.attrs["dtype"].as_dtype();
  for (int i = 1; i < 3; ++i) {
    const LeafSpec& type = context.tensor(i);
    context.check_rank(i, 0);
    if (!is_number(type.dtype)) context.fail(i, "is " + type.text() + ", expected a number");
    if (is_integer(dtype) && is_float(type.dtype)) {
      context.fail(i, "is " + type.text() + ", expected an integer: dtype is " +
                          std::string(dtype_name(dtype)));
    }
  }
  if (!is_number(dtype) || (what && !is_float(dtype))) {
    throw TypeError{
        -1, "dtype",
        "is " + std::string(dtype_name(dtype)) + ", expected " + (what ? what : "numbers")};
  }
  Shape shape = shape_from_input(context, 0);
  for (const int64_t size : context.known_ints(0)) {
    if (size < 0) context.fail(0, "holds a negative size: " + std::to_string(size));
  }
  return Spec::tensor(dtype, std::move(shape));
}

Spec infer_uniform(const InferContext& context) { return infer_random(context, nullptr); }
Spec infer_normal(const InferContext& context) { return infer_random(context, "a float dtype"); }

void check_scalars(std::string_view op, const RowCall& call) {
  for (size_t i = 1; i < 3; ++i) {
    const Dims& dims = call.inputs[i].dims();
    if (dims.rank() != 0) fail_row(op, "expected scalars, got shape " + dims.text());
  }
}

[[noreturn]] void fail_bounds(const std::string& low, const std::string& high) {
  fail_row("random_uniform", "high must be above low: low " + low + ", high " + high);
}

template <typename T>
void draw_uniform(RandomStream stream, T low, T high, int64_t n, T* out) {
  for (int64_t i = 0; i < n; ++i) {
    T u;
    if constexpr (std::is_same_v<T, double>) {
      u = stream.next_double();
    } else {
      u = stream.next_float();
    }
    const T v = low + u * (high - low);
    out[i] = v < high ? v : std::nextafter(high, low);  // rounding may reach the upper bound
  }
}

// An integer bound seen through uint64, as low + offset wraps.
uint64_t bits_of(const Tensor& t) { return static_cast<uint64_t>(integer_at(t)); }

bool fits(const Tensor& t, DType dtype, bool exclusive) {
  if (exclusive) {  // the bound may lie one above the largest value
    const uint64_t below = bits_of(t) - 1;
    Tensor value = t.dtype() == DType::uint64 ? Tensor::scalar(below)
                                              : Tensor::scalar(static_cast<int64_t>(below));
    return fits(value, dtype, false);
  }
  const bool negative = t.dtype() != DType::uint64 && integer_at(t) < 0;
  const int64_t bits = dtype_size(dtype) * 8;
  if (negative)
    return is_signed(dtype) && (bits == 64 || integer_at(t) >= -(int64_t{1} << (bits - 1)));
  const uint64_t most =
      is_signed(dtype) ? (uint64_t{1} << (bits - 1)) - 1 : ~uint64_t{0} >> (64 - bits);
  return bits_of(t) <= most;
}

bool is_below(const Tensor& a, const Tensor& b) {
  const bool a_negative = a.dtype() != DType::uint64 && integer_at(a) < 0;
  const bool b_negative = b.dtype() != DType::uint64 && integer_at(b) < 0;
  if (a_negative != b_negative) return a_negative;
  return bits_of(a) < bits_of(b);
}

std::string text_of(const Tensor& t) {
  return t.dtype() == DType::uint64 ? std::to_string(bits_of(t)) : std::to_string(integer_at(t));
}

void uniform_row(const RowCall& call) {
  OutputSlot& slot = call.outputs[0];
  const Dims dims = read_dims("random_uniform", call.inputs[0]);
  check_size("random_uniform", dims, DType::float64);
  check_scalars("random_uniform", call);
  const Tensor &low = call.inputs[1], &high = call.inputs[2];
  RandomStream stream = stream_of(call);
  const int64_t n = dims.entries();
  const DType dtype = slot.dtype();
  if (is_integer(dtype)) {
    if (!is_below(low, high)) fail_bounds(text_of(low), text_of(high));
    if (!fits(low, dtype, false) || !fits(high, dtype, true)) {
      fail_row("random_uniform", "the bounds do not fit " + std::string(dtype_name(dtype)) +
                                     ": low " + text_of(low) + ", high " + text_of(high));
    }
    std::byte* to = slot.allocate(dims);
    const uint64_t first = bits_of(low), range = bits_of(high) - first;
    visit_number(dtype, [&]<typename T>(TypeTag<T>) {
      for (int64_t i = 0; i < n; ++i)
        reinterpret_cast<T*>(to)[i] = static_cast<T>(first + stream.next_below(range));
    });
    return;
  }
  const double a = number_at(low), b = number_at(high);
  if (!(a < b) || !std::isfinite(a) || !std::isfinite(b))
    fail_bounds(std::to_string(a), std::to_string(b));
  std::byte* to = slot.allocate(dims);
  if (dtype == DType::float64) return draw_uniform(stream, a, b, n, reinterpret_cast<double*>(to));
  const auto narrow_low = static_cast<float>(a), narrow_high = static_cast<float>(b);
  if (!(narrow_low < narrow_high)) fail_bounds(std::to_string(a), std::to_string(b));
  if (dtype == DType::float32)
    return draw_uniform(stream, narrow_low, narrow_high, n, reinterpret_cast<float*>(to));
  Tensor held = Tensor::make(DType::float32, {n});
  draw_uniform(stream, narrow_low, narrow_high, n, held.mutable_entries<float>());
  convert_entries(DType::float32, held.data(), dtype, to, n);
}

// Box and Muller's pairs, in double whatever the dtype.
void normal_row(const RowCall& call) {
  OutputSlot& slot = call.outputs[0];
  const Dims dims = read_dims("random_normal", call.inputs[0]);
  check_size("random_normal", dims, DType::float64);
  check_scalars("random_normal", call);
  const double mean = number_at(call.inputs[1]), deviation = number_at(call.inputs[2]);
  RandomStream stream = stream_of(call);
  const int64_t n = dims.entries();
  Tensor held = Tensor::make(DType::float64, {n});
  auto* out = held.mutable_entries<double>();
  for (int64_t i = 0; i < n; i += 2) {
    const double radius = std::sqrt(-2 * std::log(1 - stream.next_double()));
    const double angle = 2 * std::numbers::pi * stream.next_double();
    out[i] = mean + deviation * radius * std::cos(angle);
    if (i + 1 < n) out[i + 1] = mean + deviation * radius * std::sin(angle);
  }
  convert_entries(DType::float64, held.data(), slot.dtype(), slot.allocate(dims), n);
}

OpDef random_op(std::string name, std::string doc, const char* a, int64_t a_fallback, const char* b,
                int64_t b_fallback) {
  OpDef op;
  op.name = std::move(name);
  op.params = {optional("shape", Param::Kind::tensor, Attr::of(Tensor::make(DType::int64, {0}))),
               optional(a, Param::Kind::tensor, Attr::integer(a_fallback)),
               optional(b, Param::Kind::tensor, Attr::integer(b_fallback)),
               optional("dtype", Param::Kind::dtype, Attr::of(DType::float32)),
               option("seed", Param::Kind::integer, {})};
  op.doc = std::move(doc);
  op.effects = Effects::random;
  op.cost_ns = 100;
  op.group = "random";
  return op;
}

}  // namespace

void add_random_ops(OpRegistry* registry) {
  OpDef uniform =
      random_op("random_uniform", "uniform draws from low (inclusive) to high (exclusive)", "low",
                0, "high", 1);
  uniform.infer = infer_uniform;
  uniform.row = uniform_row;
  uniform.can_fail = true;
  registry->add(std::move(uniform));
  OpDef normal =
      random_op("random_normal", "draws from a normal distribution", "mean", 0, "stddev", 1);
  normal.infer = infer_normal;
  normal.row = normal_row;
  normal.can_fail = true;
  registry->add(std::move(normal));
}

}  // namespace penstock
