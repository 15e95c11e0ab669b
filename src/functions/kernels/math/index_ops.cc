// Entries at index vectors: gather_nd, scatter_nd, tensor_scatter_update.

#include <cstring>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/wrapping.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// Which slices of an array of `dims` the last axis of `indices` names.
struct Slices {
  ChargedVector<int64_t> at;  // first entry of each
  int64_t size = 1;           // entries of a slice
  Dims dims;                  // indices without their last axis, then the slice's own
};

Slices read_slices(std::string_view op, const Tensor& indices, const Dims& dims) {
  const Dims& table = indices.dims();
  if (table.rank() == 0) fail_row(op, "indices must be a vector or more");
  const int64_t depth = table[table.rank() - 1];
  if (depth > dims.rank()) {
    fail_row(op, "indices of " + std::to_string(depth) + " numbers for shape " + dims.text());
  }
  Slices out;
  int64_t count = 1;
  for (int i = 0; i + 1 < table.rank(); ++i) {
    out.dims.push_back(table[i]);
    count *= table[i];
  }
  for (auto i = static_cast<int>(depth); i < dims.rank(); ++i) {
    out.size *= dims[i];
    out.dims.push_back(dims[i]);
  }
  for (int64_t n = 0; n < count; ++n) {
    int64_t at = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t index = integer_at(indices, n * depth + k), size = dims[static_cast<int>(k)];
      if (index < 0 || index >= size) {
        fail_row(op, "index " + std::to_string(index) + " is out of range for size " +
                         std::to_string(size));
      }
      at = at * size + index;
    }
    out.at.push_back(at * out.size);
  }
  return out;
}

Shape infer_slices(const InferContext& context, const Shape& shape, int indices) {
  const Shape& table = infer_integers(context, indices, -1).shape;
  if (!table.has_rank() || !shape.has_rank()) return Shape::unknown_rank();
  if (table.rank() == 0) context.fail(indices, "is a scalar, expected index vectors");
  const int64_t depth = table[table.rank() - 1];
  if (depth < 0) return Shape::unknown_rank();
  if (depth > shape.rank()) {
    context.fail(indices, "has " + std::to_string(depth) + " numbers for each entry of shape " +
                              shape.text());
  }
  std::vector<int64_t> sizes(table.sizes().begin(), table.sizes().end() - 1);
  sizes.insert(sizes.end(), shape.sizes().begin() + depth, shape.sizes().end());
  if (sizes.size() > kMaxRank) context.fail("the result has more than 8 axes");
  return Shape(std::move(sizes));
}

Spec infer_gather_nd(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  return Spec::tensor(type.dtype, infer_slices(context, type.shape, 1));
}

void gather_nd_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const Slices slices = read_slices("gather_nd", call.inputs[1], x.dims());
  OutputSlot& slot = call.outputs[0];
  check_size("gather_nd", slices.dims, x.dtype());
  std::byte* to = slot.allocate(slices.dims);
  share_strings(&slot, x);
  const int64_t entry = dtype_size(x.dtype()), bytes = slices.size * entry;
  for (const int64_t at : slices.at) {
    if (bytes > 0) std::memcpy(to, x.data() + at * entry, static_cast<size_t>(bytes));
    to += bytes;
  }
}

void check_updates(const InferContext& context, const Shape& slices, int updates) {
  const Shape& given = context.tensor(updates).shape;
  bool fits = !given.has_rank() || !slices.has_rank() || given.rank() == slices.rank();
  for (int i = 0; fits && given.has_rank() && slices.has_rank() && i < given.rank(); ++i)
    fits = given[i] == slices[i] || given[i] < 0 || slices[i] < 0;
  if (!fits) context.fail(updates, "has shape " + given.text() + ", expected " + slices.text());
}

void check_updates(std::string_view op, const Slices& slices, const Tensor& updates) {
  if (!(updates.dims() == slices.dims)) {
    fail_row(op, "updates of shape " + updates.dims().text() + ", expected " + slices.dims.text());
  }
}

Spec infer_scatter_nd(const InferContext& context) {
  const DType dtype = infer_number(context, 1).dtype;
  const Shape shape = shape_from_input(context, 2);
  for (const int64_t size : context.known_ints(2)) {
    if (size < 0) context.fail(2, "holds a negative size: " + std::to_string(size));
  }
  check_updates(context, infer_slices(context, shape, 0), 1);
  return Spec::tensor(dtype, shape);
}

void scatter_nd_row(const RowCall& call) {
  const Dims dims = read_dims("scatter_nd", call.inputs[2]);
  OutputSlot& slot = call.outputs[0];
  check_size("scatter_nd", dims, slot.dtype());
  const Slices slices = read_slices("scatter_nd", call.inputs[0], dims);
  check_updates("scatter_nd", slices, call.inputs[1]);
  const Tensor updates = converted(call.inputs[1], compute_dtype(slot.dtype()));
  Tensor sums = Tensor::make(updates.dtype(), dims);
  if (dims.entries() > 0)
    std::memset(sums.mutable_data(), 0, static_cast<size_t>(sums.data_bytes()));
  visit_number(updates.dtype(), [&]<typename T>(TypeTag<T>) {
    const T* from = updates.entries<T>();
    for (const int64_t at : slices.at) {
      T* to = sums.mutable_entries<T>() + at;
      for (int64_t k = 0; k < slices.size; ++k) to[k] = wrapping_add(to[k], *from++);
    }
  });
  slot.set(converted(sums, slot.dtype()));
}

Spec infer_update(const InferContext& context) {
  const LeafSpec &type = context.tensor(0), &updates = context.tensor(2);
  if (updates.dtype != type.dtype)
    context.fail(2, "is " + updates.text() + ", expected " + std::string(dtype_name(type.dtype)));
  check_updates(context, infer_slices(context, type.shape, 1), 2);
  return Spec::tensor(type.dtype, type.shape);
}

void update_row(const RowCall& call) {
  const Tensor &x = call.inputs[0], &updates = call.inputs[2];
  const Slices slices = read_slices("tensor_scatter_update", call.inputs[1], x.dims());
  check_updates("tensor_scatter_update", slices, updates);
  OutputSlot& slot = call.outputs[0];
  std::byte* out = slot.allocate(x.dims());
  share_strings(&slot, x);
  share_strings(&slot, updates);
  if (x.data_bytes() > 0) std::memcpy(out, x.data(), static_cast<size_t>(x.data_bytes()));
  const int64_t entry = dtype_size(x.dtype()), bytes = slices.size * entry;
  const std::byte* from = updates.data();
  for (const int64_t at : slices.at) {
    if (bytes > 0) std::memcpy(out + at * entry, from, static_cast<size_t>(bytes));
    from += bytes;
  }
}

}  // namespace

void add_index_ops(OpRegistry* registry) {
  registry->add(op_def("gather_nd", "the entries or slices of x at the index vectors",
                       {tensor_param("x"), tensor_param("indices")}, infer_gather_nd, gather_nd_row,
                       {"shape", 80, true}));
  registry->add(op_def(
      "scatter_nd", "zeros of a shape with updates at the index vectors; those at one place add up",
      {tensor_param("indices"), tensor_param("updates"), tensor_param("shape")}, infer_scatter_nd,
      scatter_nd_row, {"shape", 120, true}));
  registry->add(op_def("tensor_scatter_update",
                       "x with updates at the index vectors; of those at one place the last stays",
                       {tensor_param("x"), tensor_param("indices"), tensor_param("updates")},
                       infer_update, update_row, {"shape", 120, true}));
}

}  // namespace penstock
