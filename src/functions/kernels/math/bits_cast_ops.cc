// saturate_cast, bitcast: beside the cast that wraps.

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// -- saturate_cast

Spec infer_saturate(const InferContext& context) {
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (!is_number(dtype))
    throw TypeError{-1, "dtype", "is " + std::string(dtype_name(dtype)) + ", expected numbers"};
  return Spec::tensor(dtype, infer_number(context, 0).shape);
}

template <typename To, typename From>
To clamped(From v) {
  if (std::cmp_less(v, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater(v, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(v);
}

// The largest number of a float dtype.
double largest(DType dtype) {
  if (dtype == DType::float16) return 65504;
  if (dtype == DType::bfloat16) return 0x1.fep127;
  return static_cast<double>(std::numeric_limits<float>::max());
}

// Numbers too large for a narrower float become its largest, too; inf and NaN stay.
double clamped_float(double v, double most) { return v - v == 0 ? std::clamp(v, -most, most) : v; }

// Floats to integers saturate in every cast; integers to integers only here.
void saturate(DType from, const std::byte* in, DType to, std::byte* out, int64_t n) {
  const bool wide = from == DType::float32 || from == DType::float64;
  if (from != to && is_float(to) && to != DType::float64 && (wide || to == DType::float16)) {
    ChargedVector<double> values(static_cast<size_t>(n));
    convert_entries(from, in, DType::float64, reinterpret_cast<std::byte*>(values.data()), n);
    for (double& v : values) v = clamped_float(v, largest(to));
    return convert_entries(DType::float64, reinterpret_cast<const std::byte*>(values.data()), to,
                           out, n);
  }
  if (!is_integer(from) || !is_integer(to)) return convert_entries(from, in, to, out, n);
  visit_number(from, [&]<typename From>(TypeTag<From>) {
    visit_number(to, [&]<typename To>(TypeTag<To>) {
      if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
        for (int64_t i = 0; i < n; ++i)
          reinterpret_cast<To*>(out)[i] = clamped<To>(reinterpret_cast<const From*>(in)[i]);
      }
    });
  });
}

void saturate_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  OutputSlot& slot = call.outputs[0];
  saturate(x.dtype(), x.data(), slot.dtype(), slot.allocate(x.dims()), x.entries_count());
}

bool saturate_block(const BlockCall& call) {
  const Column& x = call.inputs[0];
  if (x.kind() != Column::Kind::dense) return false;
  const DType to = call.output_dtypes[0];
  Column out = Column::dense(to, x.row_dims(), call.rows);
  saturate(x.dtype(), x.data(), to, out.mutable_data(), call.rows * x.row_dims().entries());
  call.outputs[0] = std::move(out);
  return true;
}

// -- bitcast

// A wider dtype takes up the last axis, a narrower one makes one more.
Spec infer_bitcast(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (type.dtype == DType::bytes)
    context.fail(0, "is " + type.text() + ": bytes are read with decode_raw(x, dtype)");
  if (dtype == DType::bytes || dtype == DType::boolean || type.dtype == DType::boolean)
    throw TypeError{-1, "dtype", "must be a number, of numbers"};
  if (!type.shape.has_rank()) return Spec::tensor(dtype, type.shape);
  const int64_t from = dtype_size(type.dtype), to = dtype_size(dtype);
  std::vector<int64_t> sizes = type.shape.sizes();
  if (from > to) {
    sizes.push_back(from / to);
  } else if (from < to) {
    if (sizes.empty() || (sizes.back() >= 0 && sizes.back() != to / from)) {
      context.fail(0, "is " + type.text() + ", expected " + std::to_string(to / from) +
                          " entries in the last axis for one " + std::string(dtype_name(dtype)));
    }
    sizes.pop_back();
  }
  if (sizes.size() > kMaxRank) context.fail("the result has more than 8 axes");
  return Spec::tensor(dtype, Shape(std::move(sizes)));
}

void bitcast_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const DType dtype = call.outputs[0].dtype();
  const int64_t from = dtype_size(x.dtype()), to = dtype_size(dtype);
  Dims dims = x.dims();
  if (from > to) dims.push_back(from / to);
  if (from < to) {
    if (dims.rank() == 0 || dims[dims.rank() - 1] != to / from) {
      fail_row("bitcast", "the last axis of shape " + dims.text() + " must have " +
                              std::to_string(to / from) + " entries");
    }
    dims = Dims(x.dims().sizes().first(static_cast<size_t>(dims.rank() - 1)));
  }
  std::byte* out = call.outputs[0].allocate(dims);
  if (x.data_bytes() > 0) std::memcpy(out, x.data(), static_cast<size_t>(x.data_bytes()));
}

}  // namespace

void add_bits_cast_ops(OpRegistry* registry) {
  const auto params = [] {
    return std::vector<Param>{tensor_param("x"), required("dtype", Param::Kind::dtype)};
  };
  OpDef saturate =
      op_def("saturate_cast", "x in another dtype: what does not fit becomes its nearest, NaN 0",
             params(), infer_saturate, saturate_row, {"math", 20});
  saturate.block = saturate_block;
  saturate.elementwise = true;
  registry->add(std::move(saturate));
  registry->add(op_def("bitcast",
                       "the bits of x read as another dtype; sizes that differ make or "
                       "take the last axis",
                       params(), infer_bitcast, bitcast_row, {"math", 40, true}));
}

}  // namespace penstock
