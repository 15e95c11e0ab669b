// one_hot, sequence_mask: numbers as places along a new axis.

#include <algorithm>
#include <cstring>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

Spec infer_one_hot(const InferContext& context) {
  const LeafSpec& type = infer_integers(context, 0, -1);
  infer_integers(context, 1, 0);
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (dtype == DType::bytes) throw TypeError{-1, "dtype", "is bytes, expected numbers or bool"};
  if (!type.shape.has_rank()) return Spec::tensor(dtype, type.shape);
  if (type.shape.rank() == kMaxRank) context.fail(0, "has 8 axes already");
  const std::vector<int64_t> depth = context.known_ints(1);
  if (!depth.empty() && depth[0] < 0)
    context.fail(1, "must not be negative: " + std::to_string(depth[0]));
  std::vector<int64_t> sizes = type.shape.sizes();
  const int axis =
      infer_axis(context, "axis", context.attrs["axis"].as_int(), type.shape.rank() + 1);
  sizes.insert(sizes.begin() + axis, depth.empty() ? Shape::kUnknown : depth[0]);
  return Spec::tensor(dtype, Shape(std::move(sizes)));
}

void one_hot_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const int64_t depth = integer_at(call.inputs[1]);
  if (depth < 0) fail_row("one_hot", "depth must not be negative: " + std::to_string(depth));
  OutputSlot& slot = call.outputs[0];
  const int axis = row_axis("one_hot", call.attrs["axis"].as_int(), x.dims().rank() + 1);
  Dims dims;
  int64_t inner = 1;
  for (int i = 0; i < axis; ++i) dims.push_back(x.dims()[i]);
  dims.push_back(depth);
  for (int i = axis; i < x.dims().rank(); ++i) {
    dims.push_back(x.dims()[i]);
    inner *= x.dims()[i];
  }
  check_size("one_hot", dims, slot.dtype());
  const int64_t entry = dtype_size(slot.dtype());
  const Tensor one = converted(Tensor::scalar(1.0F), slot.dtype());
  std::byte* out = slot.allocate(dims);
  if (dims.entries() > 0) std::memset(out, 0, static_cast<size_t>(dims.entries() * entry));
  for (int64_t i = 0; i < x.entries_count(); ++i) {
    const int64_t index = integer_at(x, i);
    if (index < 0 || index >= depth) continue;
    std::memcpy(out + ((i / inner * depth + index) * inner + i % inner) * entry, one.data(),
                static_cast<size_t>(entry));
  }
}

// -- sequence_mask

Spec infer_sequence_mask(const InferContext& context) {
  const LeafSpec& type = infer_integers(context, 0, -1);
  int64_t size = Shape::kUnknown;
  if (context.inputs.size() > 1) {
    infer_integers(context, 1, 0);
    const std::vector<int64_t> known = context.known_ints(1);
    if (!known.empty()) size = std::max<int64_t>(known[0], 0);
  }
  if (!type.shape.has_rank()) return Spec::tensor(DType::boolean, type.shape);
  if (type.shape.rank() == kMaxRank) context.fail(0, "has 8 axes already");
  std::vector<int64_t> sizes = type.shape.sizes();
  sizes.push_back(size);
  return Spec::tensor(DType::boolean, Shape(std::move(sizes)));
}

void sequence_mask_row(const RowCall& call) {
  const ChargedVector<int64_t> lengths = read_ints(call.inputs[0]);
  int64_t size = 0;
  if (call.inputs.size() > 1) {
    size = std::max<int64_t>(0, integer_at(call.inputs[1]));
  } else {
    for (const int64_t n : lengths) size = std::max(size, n);
  }
  Dims dims = call.inputs[0].dims();
  dims.push_back(size);
  check_size("sequence_mask", dims, DType::boolean);
  auto* out = call.outputs[0].allocate_as<bool>(dims);
  for (const int64_t n : lengths) {
    for (int64_t i = 0; i < size; ++i) *out++ = i < n;
  }
}

}  // namespace

void add_one_hot_ops(OpRegistry* registry) {
  registry->add(op_def(
      "one_hot",
      "each index as zeros with a one at its place along a new axis; none outside the depth",
      {tensor_param("x"), tensor_param("depth"), dtype_param(DType::float32), axis_param(-1)},
      infer_one_hot, one_hot_row, {"shape", 80, true}));
  registry->add(op_def("sequence_mask",
                       "for each length so many trues, then falses up to maxlen or the longest",
                       {tensor_param("lengths"), optional("maxlen", Param::Kind::tensor, {})},
                       infer_sequence_mask, sequence_mask_row, {"shape", 80, true}));
}

}  // namespace penstock
