// Ragged to dense and sparse, sparse to dense: to_tensor, to_sparse.

#include <algorithm>
#include <cstring>

#include "data/charged.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {
namespace {

// The size that the whole needs along each ragged axis, behind axis 0.
std::vector<int64_t> longest_rows(const RaggedTensor& x) {
  std::vector<int64_t> out;  // bounded: axes
  for (const Tensor& axis : x.splits()) {
    int64_t longest = 0;
    const auto* at = axis.entries<int64_t>();
    for (int64_t i = 0; i + 1 < axis.entries_count(); ++i)
      longest = std::max(longest, at[i + 1] - at[i]);
    out.push_back(longest);
  }
  return out;
}

Tensor fill_value(const Attr& attr, DType dtype) {
  if (attr.is_none()) {
    Tensor zero = Tensor::make(dtype, {});
    std::memset(zero.mutable_data(), 0, static_cast<size_t>(zero.data_bytes()));
    return zero;
  }
  return converted(attr.tensor(), dtype);
}

void check_default(const InferContext& context, DType dtype) {
  const Attr& value = context.attrs["default"];
  if (value.is_none()) return;
  const bool fits = value.is_tensor() && value.tensor().dims().rank() == 0 &&
                    (value.tensor().dtype() == DType::bytes) == (dtype == DType::bytes);
  if (!fits) throw TypeError{-1, "default", "must be one " + std::string(dtype_name(dtype))};
}

Spec infer_to_tensor(const InferContext& context) {
  const LeafSpec& type = context.inputs[0].type;
  check_default(context, type.dtype);
  if (type.kind == LeafSpec::Kind::sparse) return Spec::tensor(type.dtype, type.shape);
  if (!type.is_tensor()) infer_ragged(context, 0);
  if (!type.shape.has_rank()) context.fail(0, "is " + type.text() + ", expected a known rank");
  std::vector<int64_t> sizes = type.shape.sizes();
  if (const Attr& shape = context.attrs["shape"]; !shape.is_none()) {
    const std::vector<int64_t> given = infer_ints(context, "shape");
    if (given.size() != sizes.size()) {
      throw TypeError{-1, "shape", "must have " + std::to_string(sizes.size()) + " sizes"};
    }
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] >= 0) sizes[i] = given[i];
    }
  }
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

// Copies what fits of a dense tensor into the corner of another of its rank.
void place_dense(const std::byte* from, const Dims& dims, int axis, std::byte* to, const Dims& room,
                 int64_t entry) {
  if (axis == dims.rank()) {
    std::memcpy(to, from, static_cast<size_t>(entry));
    return;
  }
  int64_t step = entry, room_step = entry;
  for (int i = axis + 1; i < dims.rank(); ++i) {
    step *= dims[i];
    room_step *= room[i];
  }
  for (int64_t i = 0; i < std::min(dims[axis], room[axis]); ++i)
    place_dense(from + i * step, dims, axis + 1, to + i * room_step, room, entry);
}

// Copies items [begin, end) of ragged axis `axis` to item `to` of the dense tensor's axis; what
// does not fit is cut.
void place(const RaggedTensor& x, size_t axis, int64_t begin, int64_t end, int64_t to,
           Tensor* out) {
  const int64_t room = out->dims()[static_cast<int>(axis)];
  for (int64_t i = begin; i < std::min(end, begin + room); ++i) {
    const int64_t at = to * room + i - begin;
    if (axis == x.splits().size()) {
      const int64_t bytes = x.values().dims().without_front().entries() * dtype_size(out->dtype());
      if (bytes > 0)
        std::memcpy(out->mutable_data() + at * bytes, x.values().data() + i * bytes,
                    static_cast<size_t>(bytes));
    } else {
      const auto* splits = x.splits()[axis].entries<int64_t>();
      place(x, axis + 1, splits[i], splits[i + 1], at, out);
    }
  }
}

Tensor filled(const Dims& dims, DType dtype, const Attr& fill) {
  check_size("to_tensor", dims, dtype);
  const Tensor value = fill_value(fill, dtype);
  Tensor out = Tensor::make(dtype, dims);
  fill_entries(out.mutable_data(), value.data(), dtype_size(dtype), dims.entries());
  if (dtype == DType::bytes) out.mutable_buffer().keep(value.buffer());
  return out;
}

void sparse_to_tensor(const SparseTensor& x, const RowCall& call) {
  const ChargedVector<int64_t> sizes = read_ints(x.shape());
  Tensor out = filled(Dims(sizes), x.values().dtype(), call.attrs["default"]);
  const int64_t rank = static_cast<int64_t>(sizes.size()), entry = dtype_size(out.dtype());
  for (int64_t i = 0; i < x.values().entries_count(); ++i) {
    int64_t at = 0;
    for (int64_t k = 0; k < rank; ++k) {
      const int64_t index = x.indices().entry<int64_t>(i * rank + k),
                    size = sizes[static_cast<size_t>(k)];
      if (index < 0 || index >= size)
        fail_row("to_tensor",
                 "index " + std::to_string(index) + " outside size " + std::to_string(size));
      at = at * size + index;
    }
    std::memcpy(out.mutable_data() + at * entry, x.values().data() + i * entry,
                static_cast<size_t>(entry));
  }
  share_strings(&out.mutable_buffer(), x.values().buffer(), out.dtype());
  call.outputs[0].set(std::move(out));
}

// The sizes with those that the call gives.
void set_given_sizes(const RowCall& call, std::vector<int64_t>* sizes) {
  const Attr& shape = call.attrs["shape"];
  if (shape.is_none()) return;
  const std::vector<int64_t> given = attr_ints(shape);
  for (size_t i = 0; i < given.size() && i < sizes->size(); ++i) {
    if (given[i] >= 0) (*sizes)[i] = given[i];
  }
}

void dense_to_tensor(const Tensor& x, const RowCall& call) {
  std::vector<int64_t> sizes(x.dims().sizes().begin(), x.dims().sizes().end());
  set_given_sizes(call, &sizes);
  if (const Dims dims(sizes); !(dims == x.dims())) {
    Tensor out = filled(dims, x.dtype(), call.attrs["default"]);
    if (x.data_bytes() > 0)
      place_dense(x.data(), x.dims(), 0, out.mutable_data(), dims, dtype_size(x.dtype()));
    share_strings(&out.mutable_buffer(), x.buffer(), x.dtype());
    return call.outputs[0].set(std::move(out));
  }
  call.outputs[0].set(x);
}

void to_tensor_row(const RowCall& call) {
  if (const SparseTensor* sparse = as_sparse(call.inputs[0]))
    return sparse_to_tensor(*sparse, call);
  if (!call.inputs[0].object()) return dense_to_tensor(call.inputs[0], call);
  const RaggedTensor& x = ragged_input(call, 0);
  std::vector<int64_t> sizes{x.rows()};
  for (const int64_t n : longest_rows(x)) sizes.push_back(n);
  for (const int64_t n : x.values().dims().without_front().sizes()) sizes.push_back(n);
  set_given_sizes(call, &sizes);
  Tensor out = filled(Dims(sizes), x.values().dtype(), call.attrs["default"]);
  place(x, 0, 0, x.rows(), 0, &out);
  share_strings(&out.mutable_buffer(), x.values().buffer(), out.dtype());
  call.outputs[0].set(std::move(out));
}

Spec infer_to_sparse(const InferContext& context) {
  const LeafSpec& type = infer_ragged(context, 0);
  return Spec::of(sparse_leaf(type.dtype, type.shape));
}

void to_sparse_row(const RowCall& call) {
  const RaggedTensor& x = ragged_input(call, 0);
  if (x.values().dims().rank() != 1)
    fail_row("to_sparse", "values of shape " + x.values().dims().text());
  ChargedVector<int64_t> prefix, indices;
  const std::function<void(size_t, int64_t, int64_t)> walk = [&](size_t axis, int64_t begin,
                                                                 int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      prefix.push_back(i - begin);
      if (axis == x.splits().size()) {
        indices.insert(indices.end(), prefix.begin(), prefix.end());
      } else {
        const auto* splits = x.splits()[axis].entries<int64_t>();
        walk(axis + 1, splits[i], splits[i + 1]);
      }
      prefix.pop_back();
    }
  };
  walk(0, 0, x.rows());
  std::vector<int64_t> shape = longest_rows(x);  // bounded: axes
  shape.insert(shape.begin(), x.rows());
  const auto rank = static_cast<int64_t>(shape.size());
  call.outputs[0].set(
      make_sparse(Tensor::vector<int64_t>(indices).reshaped({x.values().entries_count(), rank}),
                  x.values(), Tensor::vector<int64_t>(shape)));
}

}  // namespace

void add_ragged_dense_ops(OpRegistry* registry) {
  OpDef dense =
      ragged_op("to_tensor",
                "a ragged or sparse tensor as a dense one, filled up with default (or "
                "zeros), cut to the sizes in shape; a dense one as it is, but for these sizes",
                infer_to_tensor, to_tensor_row,
                {required("x", Param::Kind::tensor), optional("default", Param::Kind::any, {}),
                 option("shape", Param::Kind::shape, {})});
  dense.can_fail = true;
  registry->add(std::move(dense));
  OpDef sparse = ragged_op("to_sparse", "a ragged tensor as a sparse one", infer_to_sparse,
                           to_sparse_row, {required("x", Param::Kind::tensor)});
  sparse.can_fail = true;
  registry->add(std::move(sparse));
}

}  // namespace penstock
