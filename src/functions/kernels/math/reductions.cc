// reduce_sum, reduce_mean, reduce_min, reduce_max, reduce_any, reduce_all.
//
// Sums of floats are accumulated in double and rounded once. Integer sums keep their dtype and
// wrap; integer means drop the fraction. Of nothing, the smallest is inf or the dtype's largest
// value.

#include <algorithm>
#include <array>
#include <limits>

#include "functions/kernels/families.h"
#include "functions/kernels/math/broadcast.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"

namespace penstock {
namespace {

enum class Reduction : uint8_t { sum, mean, min, max, any, all };

constexpr std::string_view kNames[] = {"reduce_sum", "reduce_mean", "reduce_min",
                                       "reduce_max", "reduce_any",  "reduce_all"};
constexpr std::string_view name_of(Reduction r) { return kNames[static_cast<size_t>(r)]; }

// An array as alternating kept and reduced axes, neighbours of one kind joined.
struct Walk {
  int rank = 0;
  std::array<int64_t, Extents::kMax> size{};
  std::array<int64_t, Extents::kMax> out_stride{};  // 0: reduced
  int64_t results = 1;
  int64_t reduced = 1;  // entries for each result
};

Walk make_walk(const Extents& extents, const std::array<bool, Extents::kMax>& drop) {
  Walk w;
  std::array<bool, Extents::kMax> kinds{};
  for (int i = 0; i < extents.rank; ++i) {
    const auto a = static_cast<size_t>(i);
    (drop[a] ? w.reduced : w.results) *= extents.size[a];
    if (extents.size[a] == 1) continue;
    if (w.rank > 0 && kinds[static_cast<size_t>(w.rank - 1)] == drop[a]) {
      w.size[static_cast<size_t>(w.rank - 1)] *= extents.size[a];
    } else {
      kinds[static_cast<size_t>(w.rank)] = drop[a];
      w.size[static_cast<size_t>(w.rank++)] = extents.size[a];
    }
  }
  int64_t stride = 1;
  for (int i = w.rank - 1; i >= 0; --i) {
    const auto a = static_cast<size_t>(i);
    if (kinds[a]) continue;
    w.out_stride[a] = stride;
    stride *= w.size[a];
  }
  return w;
}

// out, filled with the start value, takes up all entries.
template <typename T, typename Acc, typename F>
void reduce(const T* in, const Walk& w, Acc* out, F take) {
  if (w.results == 0 || w.reduced == 0) return;
  if (w.rank == 0) {
    *out = take(*out, *in);
    return;
  }
  const auto last = static_cast<size_t>(w.rank - 1);
  const int64_t n = w.size[last];
  std::array<int64_t, Extents::kMax> index{};
  for (;;) {
    if (w.out_stride[last] == 0) {
      Acc acc = *out;
      for (int64_t i = 0; i < n; ++i) acc = take(acc, in[i]);
      *out = acc;
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = take(out[i], in[i]);
    }
    in += n;
    int axis = w.rank - 2;
    for (; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      out += w.out_stride[a];
      if (++index[a] < w.size[a]) break;
      out -= w.out_stride[a] * w.size[a];
      index[a] = 0;
    }
    if (axis < 0) return;
  }
}

void reduce_sums(DType dtype, const std::byte* data, const Walk& w, bool mean, DType output,
                 std::byte* out) {
  visit_number(dtype, [&]<typename T>(TypeTag<T>) {
    using Acc = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    Tensor sums = Tensor::make(DTypeOf<Acc>::value, {w.results});
    Acc* acc = sums.mutable_entries<Acc>();
    std::fill_n(acc, w.results, Acc{0});
    reduce(reinterpret_cast<const T*>(data), w, acc,
           [](Acc a, T v) { return a + static_cast<Acc>(v); });
    if (mean) {
      for (int64_t i = 0; i < w.results; ++i) {
        if constexpr (std::is_floating_point_v<T>) {
          acc[i] /= static_cast<double>(w.reduced);
        } else if (w.reduced == 0) {
          acc[i] = 0;
        } else if constexpr (std::is_signed_v<T>) {
          acc[i] = static_cast<uint64_t>(static_cast<int64_t>(acc[i]) / w.reduced);
        } else {
          acc[i] /= static_cast<uint64_t>(w.reduced);
        }
      }
    }
    convert_entries(sums.dtype(), sums.data(), output, out, w.results);
  });
}

void reduce_extremes(DType dtype, const std::byte* data, const Walk& w, bool smallest,
                     std::byte* out) {
  visit_number(dtype, [&]<typename T>(TypeTag<T>) {
    using Limits = std::numeric_limits<T>;
    const T top = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T bottom = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const T* in = reinterpret_cast<const T*>(data);
    T* to = reinterpret_cast<T*>(out);
    std::fill_n(to, w.results, smallest ? top : bottom);
    if (smallest) {
      reduce(in, w, to, [](T a, T v) { return v < a || v != v ? v : a; });
    } else {
      reduce(in, w, to, [](T a, T v) { return v > a || v != v ? v : a; });
    }
  });
}

void reduce_array(Reduction reduction, DType dtype, const std::byte* data, const Walk& w,
                  DType output, std::byte* out) {
  if (reduction == Reduction::any || reduction == Reduction::all) {
    auto* to = reinterpret_cast<uint8_t*>(out);
    const auto* in = reinterpret_cast<const uint8_t*>(data);
    std::fill_n(to, w.results, static_cast<uint8_t>(reduction == Reduction::all));
    if (reduction == Reduction::any) {
      reduce(in, w, to, [](uint8_t a, uint8_t v) { return static_cast<uint8_t>(a | v); });
    } else {
      reduce(in, w, to, [](uint8_t a, uint8_t v) { return static_cast<uint8_t>(a & v); });
    }
    return;
  }
  const DType compute = compute_dtype(dtype);
  Tensor held;
  if (compute != dtype) {
    const int64_t n = w.results * w.reduced;
    held = Tensor::make(compute, {n});
    convert_entries(dtype, data, compute, held.mutable_data(), n);
    data = held.data();
  }
  if (reduction == Reduction::sum || reduction == Reduction::mean) {
    reduce_sums(compute, data, w, reduction == Reduction::mean, output, out);
  } else if (compute == output) {
    reduce_extremes(compute, data, w, reduction == Reduction::min, out);
  } else {
    Tensor result = Tensor::make(compute, {w.results});
    reduce_extremes(compute, data, w, reduction == Reduction::min, result.mutable_data());
    convert_entries(compute, result.data(), output, out, w.results);
  }
}

std::array<bool, Extents::kMax> dropped_axes(std::string_view op, const Attrs& attrs, int rank) {
  std::array<bool, Extents::kMax> drop{};
  const Attr& axis = attrs["axis"];
  if (axis.is_none()) {
    std::fill_n(drop.begin(), rank, true);
  } else {
    for (const int64_t a : attr_ints(axis)) drop[static_cast<size_t>(row_axis(op, a, rank))] = true;
  }
  return drop;
}

Dims reduced_dims(const Dims& dims, const std::array<bool, Extents::kMax>& drop, bool keep) {
  Dims out;
  for (int i = 0; i < dims.rank(); ++i) {
    if (!drop[static_cast<size_t>(i)]) {
      out.push_back(dims[i]);
    } else if (keep) {
      out.push_back(1);
    }
  }
  return out;
}

template <Reduction reduction>
void reduce_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const auto drop = dropped_axes(name_of(reduction), call.attrs, x.dims().rank());
  OutputSlot& slot = call.outputs[0];
  std::byte* out = slot.allocate(reduced_dims(x.dims(), drop, call.attrs["keepdims"].as_bool()));
  reduce_array(reduction, x.dtype(), x.data(), make_walk(Extents(x.dims()), drop), slot.dtype(),
               out);
}

template <Reduction reduction>
bool reduce_block(const BlockCall& call) {
  const Column& x = call.inputs[0];
  const bool constant = x.kind() == Column::Kind::constant;
  if (!constant && x.kind() != Column::Kind::dense) return false;
  const Dims& dims = x.row_dims();
  std::array<bool, Extents::kMax> drop, lifted{};
  try {
    drop = dropped_axes(name_of(reduction), call.attrs, dims.rank());
  } catch (const Error&) {
    return false;  // each row is to say so
  }
  const int64_t rows = constant ? 1 : call.rows;
  Extents extents;
  extents.push_back(rows);
  for (int i = 0; i < dims.rank(); ++i) {
    extents.push_back(dims[i]);
    lifted[static_cast<size_t>(i + 1)] = drop[static_cast<size_t>(i)];
  }
  const Dims out_dims = reduced_dims(dims, drop, call.attrs["keepdims"].as_bool());
  const DType output = call.output_dtypes[0];
  const Walk walk = make_walk(extents, lifted);
  if (constant) {
    Tensor out = Tensor::make(output, out_dims);
    reduce_array(reduction, x.dtype(), x.data(), walk, output, out.mutable_data());
    call.outputs[0] = Column::constant(std::move(out), call.rows);
  } else {
    Column out = Column::dense(output, out_dims, call.rows);
    reduce_array(reduction, x.dtype(), x.data(), walk, output, out.mutable_data());
    call.outputs[0] = std::move(out);
  }
  return true;
}

Shape infer_reduced(const InferContext& context, const Shape& shape) {
  const bool keep = context.attrs["keepdims"].as_bool();
  const bool all = context.attrs["axis"].is_none();
  if (!shape.has_rank()) return all && !keep ? Shape() : Shape::unknown_rank();
  std::array<bool, kMaxRank> drop{};
  if (all) {
    drop.fill(true);
  } else {
    for (const int64_t a : infer_ints(context, "axis")) {
      bool& dropped = drop[static_cast<size_t>(infer_axis(context, "axis", a, shape.rank()))];
      if (dropped) throw TypeError{-1, "axis", "names axis " + std::to_string(a) + " twice"};
      dropped = true;
    }
  }
  std::vector<int64_t> sizes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!drop[static_cast<size_t>(i)]) {
      sizes.push_back(shape[i]);
    } else if (keep) {
      sizes.push_back(1);
    }
  }
  return Shape(std::move(sizes));
}

Spec infer_numbers(const InferContext& context) {
  const LeafSpec& type = infer_number(context, 0);
  return Spec::tensor(type.dtype, infer_reduced(context, type.shape));
}

Spec infer_bools(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::boolean);
  return Spec::tensor(DType::boolean, infer_reduced(context, type.shape));
}

template <Reduction reduction>
void add(OpRegistry* registry, std::string doc) {
  OpDef op;
  op.name = name_of(reduction);
  op.params = {required("x", Param::Kind::tensor), optional("axis", Param::Kind::any, {}),
               optional("keepdims", Param::Kind::boolean, Attr::boolean(false))};
  op.doc = std::move(doc);
  op.infer =
      reduction == Reduction::any || reduction == Reduction::all ? infer_bools : infer_numbers;
  op.row = reduce_row<reduction>;
  op.block = reduce_block<reduction>;
  op.cost_ns = 60;
  op.group = "reductions";
  registry->add(std::move(op));
}

}  // namespace

void add_reduction_ops(OpRegistry* registry) {
  add<Reduction::sum>(
      registry, "the sum over the axes named, or over all; integers keep their dtype and wrap");
  add<Reduction::mean>(
      registry, "the mean over the axes named, or over all; of integers without the fraction");
  add<Reduction::min>(registry,
                      "the smallest entry along the axes named, or of all; NaN where one is");
  add<Reduction::max>(registry,
                      "the largest entry along the axes named, or of all; NaN where one is");
  add<Reduction::any>(registry, "whether an entry is true along the axes named, or of all");
  add<Reduction::all>(registry, "whether all entries are true along the axes named, or of all");
}

}  // namespace penstock
