#include "functions/kernels/math/reduce_axes.h"

#include <algorithm>

#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

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

void run_kernel(const ReduceKernel& kernel, DType dtype, const std::byte* in, const Walk& walk,
                std::byte* out) {
  const DType computed = compute_dtype(dtype);
  if (computed == dtype) return kernel.run({dtype, in, walk, out});
  const int64_t entries = walk.results * walk.reduced;
  Tensor given = Tensor::make(computed, {entries}), made = Tensor::make(computed, {walk.results});
  convert_entries(dtype, in, computed, given.mutable_data(), entries);
  kernel.run({computed, given.data(), walk, made.mutable_data()});
  convert_entries(computed, made.data(), dtype, out, walk.results);
}

}  // namespace

void run_reduce_row(const ReduceKernel& kernel, const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const auto drop = dropped_axes(kernel.name, call.attrs, x.dims().rank());
  OutputSlot& slot = call.outputs[0];
  std::byte* out = slot.allocate(reduced_dims(x.dims(), drop, call.attrs["keepdims"].as_bool()));
  run_kernel(kernel, x.dtype(), x.data(), make_walk(Extents(x.dims()), drop), out);
}

bool run_reduce_block(const ReduceKernel& kernel, const BlockCall& call) {
  const Column& x = call.inputs[0];
  const bool constant = x.kind() == Column::Kind::constant;
  if (!constant && x.kind() != Column::Kind::dense) return false;
  const Dims& dims = x.row_dims();
  std::array<bool, Extents::kMax> drop, lifted{};
  try {
    drop = dropped_axes(kernel.name, call.attrs, dims.rank());
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
    run_kernel(kernel, x.dtype(), x.data(), walk, out.mutable_data());
    call.outputs[0] = Column::constant(std::move(out), call.rows);
  } else {
    Column out = Column::dense(output, out_dims, call.rows);
    run_kernel(kernel, x.dtype(), x.data(), walk, out.mutable_data());
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

OpDef reduce_op(const ReduceKernel& kernel, std::string doc, RowKernel row, BlockKernel block) {
  OpDef op = op_def(std::string(kernel.name), std::move(doc),
                    {tensor_param("x"), optional("axis", Param::Kind::any, {}),
                     optional("keepdims", Param::Kind::boolean, Attr::boolean(false))},
                    [](const InferContext& context) {
                      const LeafSpec& type = infer_number(context, 0);
                      return Spec::tensor(type.dtype, infer_reduced(context, type.shape));
                    },
                    row, {"reductions", 60});
  op.block = block;
  return op;
}

}  // namespace penstock
