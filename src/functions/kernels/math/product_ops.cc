// matmul, tensordot: products added up, floats in double.

#include <cstring>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/strided.h"
#include "functions/kernels/math/wrapping.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// out[n, m] = a[n, k] b[k, m], row by row so that b is read in order.
template <typename T>
void multiply(const T* a, const T* b, int64_t n, int64_t k, int64_t m, T* out) {
  using Acc = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  ChargedVector<Acc> sums(static_cast<size_t>(m));
  for (int64_t i = 0; i < n; ++i) {
    std::fill(sums.begin(), sums.end(), Acc{0});
    for (int64_t j = 0; j < k; ++j) {
      const Acc left = static_cast<Acc>(a[i * k + j]);
      for (int64_t c = 0; c < m; ++c) {
        Acc& sum = sums[static_cast<size_t>(c)];
        sum = wrapping_add(sum, wrapping_multiply(left, static_cast<Acc>(b[j * m + c])));
      }
    }
    for (int64_t c = 0; c < m; ++c) out[i * m + c] = static_cast<T>(sums[static_cast<size_t>(c)]);
  }
}

// The sizes in front of the last two axes, which broadcast; false when they do not. Unknown ones
// are -1.
bool batch_sizes(std::span<const int64_t> a, std::span<const int64_t> b,
                 std::vector<int64_t>* out) {
  out->assign(std::max(a.size(), b.size()) - 2, 1);
  const auto put = [out](std::span<const int64_t> sizes) {
    const size_t before = out->size() + 2 - sizes.size();
    for (size_t i = 0; i + 2 < sizes.size(); ++i) {
      int64_t& size = (*out)[before + i];
      if (size == 1 || (size < 0 && sizes[i] > 1)) {
        size = sizes[i];
      } else if (size != sizes[i] && size >= 0 && sizes[i] >= 0 && sizes[i] != 1) {
        return false;
      }
    }
    return true;
  };
  return put(a) && put(b);
}

Spec infer_matmul(const InferContext& context) {
  const Shape a = infer_number(context, 0).shape, b = infer_number(context, 1).shape;
  const DType dtype = infer_promoted(context, 0, 1);
  if (!a.has_rank() || !b.has_rank()) return Spec::tensor(dtype, Shape::unknown_rank());
  if (a.rank() < 2) context.fail(0, "has shape " + a.text() + ", expected a matrix or more");
  if (b.rank() < 2) context.fail(1, "has shape " + b.text() + ", expected a matrix or more");
  const int64_t inner = a[a.rank() - 1], other = b[b.rank() - 2];
  std::vector<int64_t> sizes;
  if ((inner != other && inner >= 0 && other >= 0) || !batch_sizes(a.sizes(), b.sizes(), &sizes))
    context.fail(1, "has shape " + b.text() + ", which does not fit " + a.text());
  sizes.push_back(a[a.rank() - 2]);
  sizes.push_back(b[b.rank() - 1]);
  return Spec::tensor(dtype, Shape(std::move(sizes)));
}

// Which of the matrices of `dims` stands at place i of a batch of these sizes.
int64_t matrix_at(const Dims& dims, std::span<const int64_t> batch, int64_t i) {
  int64_t at = 0, stride = 1;
  int axis = dims.rank() - 3;
  for (size_t k = batch.size(); k-- > 0 && axis >= 0; --axis) {
    if (dims[axis] != 1) at += i % batch[k] * stride;
    stride *= dims[axis];
    i /= batch[k];
  }
  return at;
}

void matmul_row(const RowCall& call) {
  OutputSlot& slot = call.outputs[0];
  const DType dtype = compute_dtype(slot.dtype());
  const Tensor a = converted(call.inputs[0], dtype), b = converted(call.inputs[1], dtype);
  const int rank = a.dims().rank(), other = b.dims().rank();
  std::vector<int64_t> batch;  // bounded: axes
  const bool fits = rank >= 2 && other >= 2 && a.dims()[rank - 1] == b.dims()[other - 2] &&
                    batch_sizes(a.dims().sizes(), b.dims().sizes(), &batch);
  if (!fits)
    fail_row("matmul", "shapes " + a.dims().text() + " and " + b.dims().text() + " do not fit");
  const int64_t n = a.dims()[rank - 2], k = a.dims()[rank - 1], m = b.dims()[other - 1];
  Dims dims;
  int64_t count = 1;
  for (const int64_t size : batch) {
    dims.push_back(size);
    count *= size;
  }
  dims.push_back(n);
  dims.push_back(m);
  check_size("matmul", dims, dtype);
  Tensor out = Tensor::make(dtype, dims);
  visit_number(dtype, [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < count; ++i) {
      multiply(a.entries<T>() + matrix_at(a.dims(), batch, i) * n * k,
               b.entries<T>() + matrix_at(b.dims(), batch, i) * k * m, n, k, m,
               out.mutable_entries<T>() + i * n * m);
    }
  });
  slot.set(converted(out, slot.dtype()));
}

// -- tensordot

struct DotAxes {
  std::vector<int64_t> a, b;  // bounded: axes
};

// A number (the last of a, the first of b), or [axes of a, axes of b]; throws Error.
DotAxes dot_axes(const Attr& attr, int rank_a, int rank_b) {
  DotAxes out;
  if (attr.is_tensor() && attr.tensor().dims().rank() == 0) {
    const int64_t n = attr.as_int();
    if (n < 0 || n > rank_a || n > rank_b)
      fail_row("tensordot", "axes must lie between 0 and the ranks: " + std::to_string(n));
    for (int64_t i = 0; i < n; ++i) {
      out.a.push_back(rank_a - n + i);
      out.b.push_back(i);
    }
    return out;
  }
  if (attr.is_tensor()) {
    const Tensor& t = attr.tensor();
    if (t.dims().rank() == 0 || t.dims()[0] != 2)
      fail_row("tensordot", "axes must be a number or [axes of a, axes of b]");
    const auto axes = [&t](int64_t side) { return attr_ints(Attr::of(t.item(side))); };
    out = {axes(0), axes(1)};
  } else if (attr.items().size() == 2) {
    out = {attr_ints(attr.items()[0]), attr_ints(attr.items()[1])};
  }
  if (out.a.size() != out.b.size())
    fail_row("tensordot", "axes must be a number or [axes of a, axes of b]");
  for (int64_t& axis : out.a) axis = row_axis("tensordot", axis, rank_a);
  for (int64_t& axis : out.b) axis = row_axis("tensordot", axis, rank_b);
  return out;
}

// The axes that are not summed over, in order.
std::vector<int64_t> free_axes(const std::vector<int64_t>& summed, int rank) {
  std::vector<int64_t> out;  // bounded: axes
  for (int64_t i = 0; i < rank; ++i) {
    if (std::ranges::find(summed, i) == summed.end()) out.push_back(i);
  }
  return out;
}

Spec infer_tensordot(const InferContext& context) {
  const Shape a = infer_number(context, 0).shape, b = infer_number(context, 1).shape;
  const DType dtype = infer_promoted(context, 0, 1);
  if (!a.has_rank() || !b.has_rank()) return Spec::tensor(dtype, Shape::unknown_rank());
  try {
    const DotAxes axes = dot_axes(context.attrs["axes"], a.rank(), b.rank());
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < axes.a.size(); ++i) {
      const int64_t n = a[static_cast<int>(axes.a[i])], m = b[static_cast<int>(axes.b[i])];
      if (n != m && n >= 0 && m >= 0)
        context.fail(1, "has shape " + b.text() + ", which does not fit " + a.text());
    }
    for (const int64_t i : free_axes(axes.a, a.rank())) sizes.push_back(a[static_cast<int>(i)]);
    for (const int64_t i : free_axes(axes.b, b.rank())) sizes.push_back(b[static_cast<int>(i)]);
    if (sizes.size() > kMaxRank) context.fail("the result has more than 8 axes");
    return Spec::tensor(dtype, Shape(std::move(sizes)));
  } catch (const Error& e) {
    throw TypeError{-1, "axes", "do not fit: " + e.message()};
  }
}

// x with its axes in the order first, second; as a matrix of these.
Tensor as_matrix(const Tensor& x, const std::vector<int64_t>& first,
                 const std::vector<int64_t>& second) {
  const StridedView all = StridedView::of(x.dims());
  StridedView view;
  int64_t sizes[2] = {1, 1};
  for (const int64_t i : first) {
    view.push_back(x.dims()[static_cast<int>(i)], all.stride[static_cast<size_t>(i)]);
    sizes[0] *= x.dims()[static_cast<int>(i)];
  }
  for (const int64_t i : second) {
    view.push_back(x.dims()[static_cast<int>(i)], all.stride[static_cast<size_t>(i)]);
    sizes[1] *= x.dims()[static_cast<int>(i)];
  }
  Tensor out = Tensor::make(x.dtype(), {sizes[0], sizes[1]});
  if (x.entries_count() > 0)
    copy_strided(x.data(), view, dtype_size(x.dtype()), out.mutable_data());
  return out;
}

void tensordot_row(const RowCall& call) {
  OutputSlot& slot = call.outputs[0];
  const DType dtype = compute_dtype(slot.dtype());
  const Tensor a = converted(call.inputs[0], dtype), b = converted(call.inputs[1], dtype);
  const DotAxes axes = dot_axes(call.attrs["axes"], a.dims().rank(), b.dims().rank());
  for (size_t i = 0; i < axes.a.size(); ++i) {
    if (a.dims()[static_cast<int>(axes.a[i])] != b.dims()[static_cast<int>(axes.b[i])])
      fail_row("tensordot",
               "shapes " + a.dims().text() + " and " + b.dims().text() + " do not fit");
  }
  Dims dims;
  const std::vector<int64_t> rows = free_axes(axes.a, a.dims().rank());
  const std::vector<int64_t> columns = free_axes(axes.b, b.dims().rank());
  for (const int64_t i : rows) dims.push_back(a.dims()[static_cast<int>(i)]);
  for (const int64_t i : columns) dims.push_back(b.dims()[static_cast<int>(i)]);
  check_size("tensordot", dims, dtype);
  const Tensor left = as_matrix(a, rows, axes.a), right = as_matrix(b, axes.b, columns);
  Tensor out = Tensor::make(dtype, dims);
  visit_number(dtype, [&]<typename T>(TypeTag<T>) {
    multiply(left.entries<T>(), right.entries<T>(), left.dims()[0], left.dims()[1], right.dims()[1],
             out.mutable_entries<T>());
  });
  slot.set(converted(out, slot.dtype()));
}

}  // namespace

void add_product_ops(OpRegistry* registry) {
  OpDef matmul = op_def(
      "matmul", "the matrix product over the last two axes; those before broadcast",
      {tensor_param("a"), tensor_param("b")}, infer_matmul, matmul_row, {"reductions", 500, true});
  matmul.literals_from = 0;
  registry->add(std::move(matmul));
  OpDef tensordot = op_def(
      "tensordot",
      "products summed over the last n axes of a and the first n of b, or over [axes "
      "of a, axes of b]",
      {tensor_param("a"), tensor_param("b"), optional("axes", Param::Kind::any, Attr::integer(2))},
      infer_tensordot, tensordot_row, {"reductions", 500, true});
  tensordot.literals_from = 0;
  registry->add(std::move(tensordot));
}

}  // namespace penstock
