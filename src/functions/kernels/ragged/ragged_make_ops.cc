// Ragged and sparse tensors from dense ones: from_row_splits, from_row_lengths, sparse,
// ragged_range, from_tensor.

#include <algorithm>
#include <limits>

#include "data/charged.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {
namespace {

// [rows, length, ...rest] with one ragged axis.
LeafSpec one_axis(DType dtype, int64_t rows, const std::vector<int64_t>& rest,
                  int64_t length = Shape::kUnknown) {
  std::vector<int64_t> sizes{rows, length};
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return ragged_leaf(dtype, Shape(std::move(sizes)), 1);
}

// -- from_row_splits, from_row_lengths: values cut

template <bool lengths>
Spec infer_cut(const InferContext& context) {
  const LeafSpec& values = context.tensor(0);
  const LeafSpec& cuts = infer_integers(context, 1, 1);
  if (!values.shape.has_rank() || values.shape.is_scalar())
    context.fail(0, "is " + values.text() + ", expected values along an axis");
  int64_t rows = cuts.shape.has_rank() ? cuts.shape[0] : Shape::kUnknown;
  if (!lengths && rows > 0) --rows;
  return Spec::of(one_axis(values.dtype, rows, values.shape.without_front().sizes()));
}

template <bool lengths>
void cut_row(const RowCall& call) {
  ChargedVector<int64_t> splits = read_ints(call.inputs[1]);
  if (lengths) {
    splits.insert(splits.begin(), 0);
    for (size_t i = 1; i < splits.size(); ++i) {
      if (splits[i] < 0) fail_row("from_row_lengths", "a length of " + std::to_string(splits[i]));
      splits[i] += splits[i - 1];
    }
  }
  call.outputs[0].set(make_ragged({Tensor::vector<int64_t>(splits)}, call.inputs[0]));
}

// -- sparse

Spec infer_sparse(const InferContext& context) {
  infer_integers(context, 0, 2);
  const LeafSpec& values = context.tensor(1);
  context.check_rank(1, 1);
  const LeafSpec& shape = infer_integers(context, 2, 1);
  const std::vector<int64_t> sizes = context.known_ints(2);
  if (!sizes.empty()) return Spec::of(sparse_leaf(values.dtype, Shape(sizes)));
  const bool known = shape.shape.has_rank() && shape.shape[0] >= 0;
  return Spec::of(sparse_leaf(values.dtype, known ? Shape::of_rank(static_cast<int>(shape.shape[0]))
                                                  : Shape::unknown_rank()));
}

void sparse_row(const RowCall& call) {
  const Tensor indices = converted(call.inputs[0], DType::int64);
  const Tensor shape = converted(call.inputs[2], DType::int64);
  Tensor out = make_sparse(indices, call.inputs[1], shape);
  const int64_t rank = shape.entries_count();
  for (int64_t i = 0; i < indices.entries_count(); ++i) {
    const int64_t index = indices.entry<int64_t>(i), size = shape.entry<int64_t>(i % rank);
    if (index < 0 || index >= size) {
      fail_row("sparse",
               "index " + std::to_string(index) + " outside size " + std::to_string(size));
    }
  }
  call.outputs[0].set(std::move(out));
}

// -- ragged_range: 0 to each limit

Spec infer_range(const InferContext& context) {
  const LeafSpec& limits = infer_integers(context, 0, 1);
  return Spec::of(one_axis(DType::int64, limits.shape.has_rank() ? limits.shape[0] : -1, {}));
}

void range_row(const RowCall& call) {
  ChargedVector<int64_t> splits{0}, values;
  for (const int64_t limit : read_ints(call.inputs[0])) {
    check_size("ragged_range", {static_cast<int64_t>(values.size()) + std::max<int64_t>(limit, 0)},
               DType::int64);
    for (int64_t i = 0; i < limit; ++i) values.push_back(i);
    splits.push_back(static_cast<int64_t>(values.size()));
  }
  call.outputs[0].set(
      make_ragged({Tensor::vector<int64_t>(splits)}, Tensor::vector<int64_t>(values)));
}

// -- from_tensor: rows shortened

Spec infer_from_tensor(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  if (type.shape.has_rank() && type.shape.rank() < 2)
    context.fail(0, "is " + type.text() + ", expected rank 2 or more");
  if (!context.attrs["lengths"].is_none()) infer_ints(context, "lengths");
  if (!type.shape.has_rank()) context.fail(0, "is " + type.text() + ", expected a known rank");
  // bounded: axes
  std::vector<int64_t> rest(type.shape.sizes().begin() + 2, type.shape.sizes().end());
  const bool whole = context.attrs["lengths"].is_none() && context.attrs["padding"].is_none();
  return Spec::of(
      one_axis(type.dtype, type.shape[0], rest, whole ? type.shape[1] : Shape::kUnknown));
}

// How many items are left when those that equal `padding` are cut from the end.
int64_t unpadded_length(const Tensor& row, const Tensor& padding) {
  int64_t n = row.dims()[0];
  const int64_t entries = row.dims().without_front().entries();
  auto is_padding = [&](int64_t i) {
    for (int64_t k = i * entries; k < (i + 1) * entries; ++k) {
      const Tensor entry = row.reshaped({row.entries_count()}).item(k);
      if (!entry.same(padding)) return false;
    }
    return true;
  };
  while (n > 0 && is_padding(n - 1)) --n;
  return n;
}

void from_tensor_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const int64_t rows = x.dims()[0], width = x.dims()[1];
  ChargedVector<int64_t> lengths(static_cast<size_t>(rows), width);
  if (!call.attrs["lengths"].is_none()) {
    const std::vector<int64_t> given = attr_ints(call.attrs["lengths"]);
    lengths.assign(given.begin(), given.end());
    if (static_cast<int64_t>(lengths.size()) != rows)
      fail_row("from_tensor", "there are " + std::to_string(rows) + " rows, but " +
                                  std::to_string(lengths.size()) + " lengths");
  } else if (!call.attrs["padding"].is_none()) {
    const Tensor padding = converted(call.attrs["padding"].tensor(), x.dtype());
    for (int64_t r = 0; r < rows; ++r)
      lengths[static_cast<size_t>(r)] = unpadded_length(x.item(r), padding);
  }
  ChargedVector<int64_t> splits{0}, items;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t n = std::clamp<int64_t>(lengths[static_cast<size_t>(r)], 0, width);
    for (int64_t i = 0; i < n; ++i) items.push_back(r * width + i);
    splits.push_back(static_cast<int64_t>(items.size()));
  }
  const Tensor flat = x.reshaped(x.dims().without_front().without_front().with_front(rows * width));
  call.outputs[0].set(make_ragged({Tensor::vector<int64_t>(splits)}, gather_items(flat, items)));
}

}  // namespace

void add_ragged_make_ops(OpRegistry* registry) {
  auto add = [registry](OpDef op, bool can_fail) {
    op.can_fail = can_fail;
    registry->add(std::move(op));
  };
  const Param values = required("values", Param::Kind::tensor);
  add(ragged_op("from_row_splits", "values cut at row_splits: a ragged tensor", infer_cut<false>,
                cut_row<false>, {values, required("row_splits", Param::Kind::tensor)}),
      true);
  add(ragged_op("from_row_lengths", "values cut into rows of row_lengths: a ragged tensor",
                infer_cut<true>, cut_row<true>,
                {values, required("row_lengths", Param::Kind::tensor)}),
      true);
  add(ragged_op("sparse", "a sparse tensor of values at indices [n, rank]", infer_sparse,
                sparse_row,
                {required("indices", Param::Kind::tensor), values,
                 required("shape", Param::Kind::tensor)}),
      true);
  add(ragged_op("ragged_range", "row i holds 0 to limits[i]", infer_range, range_row,
                {required("limits", Param::Kind::tensor)}),
      true);
  add(ragged_op("from_tensor",
                "the rows of x, cut to lengths, or without the padding at their ends",
                infer_from_tensor, from_tensor_row,
                {required("x", Param::Kind::tensor), option("lengths", Param::Kind::any, {}),
                 option("padding", Param::Kind::any, {})}),
      true);
}

}  // namespace penstock
