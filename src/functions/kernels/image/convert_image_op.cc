// convert_image_dtype: integers stand for [0, 1] of floats, or for more or fewer bits.
#include "functions/kernels/image/image_ops.h"

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace penstock {
namespace {

template <typename T>
constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <typename T>
constexpr bool is_real = is_half<T> || std::is_floating_point_v<T>;
template <typename T>
constexpr bool is_whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <typename T>
auto widen(T value) {
  if constexpr (is_half<T>) {
    return to_float(value);
  } else {
    return value;
  }
}

template <typename To, typename Real>
To narrow(Real value) {
  if constexpr (std::is_same_v<To, Float16>) {
    return to_float16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename To, typename From>
To clamp_to(From value) {
  if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater(value, std::numeric_limits<To>::max())) {
    return std::numeric_limits<To>::max();
  }
  return static_cast<To>(value);
}

// x * (max + 0.5), rounded towards 0. Beyond the range comes the nearest float within it: 32-bit
// integers end at 2147483520. TensorFlow wraps around unless told to saturate.
template <typename From, typename To>
void reals_to_integers(const From* from, int64_t count, To* to) {
  using Real = std::conditional_t<std::is_same_v<From, double>, double, float>;
  const auto scale = static_cast<Real>(static_cast<double>(std::numeric_limits<To>::max()) + 0.5);
  const auto lowest = static_cast<Real>(std::numeric_limits<To>::min());
  auto highest = static_cast<Real>(std::numeric_limits<To>::max());
  if (highest >= std::ldexp(Real{1}, std::numeric_limits<To>::digits)) {
    highest = std::nextafter(highest, Real{0});
  }
  for (int64_t i = 0; i < count; ++i) {
    Real value = static_cast<Real>(widen(from[i])) * scale;
    value = value > lowest ? value : lowest;  // NaN too
    value = value < highest ? value : highest;
    to[i] = static_cast<To>(value);
  }
}

// x * (1 / max), the product rounded: not always what a division gives.
template <typename From, typename To>
void integers_to_reals(const From* from, int64_t count, To* to) {
  using Real = std::conditional_t<std::is_same_v<To, double>, double, float>;
  const auto scale = static_cast<Real>(1.0 / static_cast<double>(std::numeric_limits<From>::max()));
  for (int64_t i = 0; i < count; ++i) to[i] = narrow<To>(static_cast<Real>(from[i]) * scale);
}

// The ranges differ by a power of two: shifts.
template <typename From, typename To>
void integers_to_integers(const From* from, int64_t count, To* to) {
  constexpr int down = std::numeric_limits<From>::digits - std::numeric_limits<To>::digits;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (down >= 0) {
      to[i] = clamp_to<To>(static_cast<From>(from[i] >> down));
    } else {
      const auto fitted = static_cast<std::make_unsigned_t<To>>(clamp_to<To>(from[i]));
      to[i] = static_cast<To>(static_cast<uint64_t>(fitted) << -down);
    }
  }
}

template <typename From, typename To>
void convert(const From* from, int64_t count, To* to) {
  if constexpr (is_real<From> && is_real<To>) {
    for (int64_t i = 0; i < count; ++i) to[i] = narrow<To>(widen(from[i]));
  } else if constexpr (is_real<From> && is_whole<To>) {
    reals_to_integers(from, count, to);
  } else if constexpr (is_whole<From> && is_real<To>) {
    integers_to_reals(from, count, to);
  } else if constexpr (is_whole<From> && is_whole<To>) {
    integers_to_integers(from, count, to);
  }
}

}  // namespace

void convert_image_entries(DType from_dtype, const std::byte* from, int64_t count, DType to_dtype,
                           std::byte* to) {
  visit_dtype(from_dtype, [&]<typename From>(TypeTag<From>) {
    visit_dtype(to_dtype, [&]<typename To>(TypeTag<To>) {
      convert(reinterpret_cast<const From*>(from), count, reinterpret_cast<To*>(to));
    });
  });
}

namespace {

Spec infer_convert(const InferContext& context) {
  const LeafSpec& image = context.tensor(0);
  if (image.dtype == DType::bytes) infer_image(context, 0);  // says how to decode
  if (!is_number(image.dtype)) context.fail(0, "is " + image.text() + ", expected numbers");
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (!is_number(dtype)) {
    throw TypeError{-1, "dtype",
                    "is " + std::string(dtype_name(dtype)) + ", expected a number dtype"};
  }
  return Spec::tensor(dtype, image.shape);
}

void convert_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  OutputSlot& slot = call.outputs[0];
  if (image.dtype() == slot.dtype()) return slot.set(image);
  convert_image_entries(image.dtype(), image.data(), image.entries_count(), slot.dtype(),
                        slot.allocate(image.dims()));
}

bool convert_block(const BlockCall& call) {
  const Column& images = call.inputs[0];
  if (images.kind() != Column::Kind::dense) return false;
  const DType dtype = call.output_dtypes[0];
  if (images.dtype() == dtype) {
    call.outputs[0] = images;
    return true;
  }
  call.outputs[0] = Column::dense(dtype, images.row_dims(), call.rows);
  convert_image_entries(images.dtype(), images.data(), call.rows * images.row_dims().entries(),
                        dtype, call.outputs[0].mutable_data());
  return true;
}

}  // namespace

void add_convert_image_op(OpRegistry* registry) {
  OpDef op;
  op.name = "convert_image_dtype";
  op.params = {required("image", Param::Kind::tensor), required("dtype", Param::Kind::dtype)};
  op.doc =
      "Another dtype with its scale: integers span [0, 1] of floats; from one integer dtype to "
      "another by a power of two, as TensorFlow does; saturates.";
  op.infer = infer_convert;
  op.row = convert_row;
  op.block = convert_block;
  op.elementwise = true;
  op.cost_ns = 2e4;
  op.group = "image";
  registry->add(std::move(op));
}

}  // namespace penstock
