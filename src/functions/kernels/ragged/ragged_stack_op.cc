// ragged_stack: tensors of different lengths as the rows of a ragged one; ragged ones get one axis
// more.

#include <cstring>

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {
namespace {

Spec infer_stack(const InferContext& context) {
  if (context.inputs.empty()) context.fail("needs tensors");
  const LeafSpec& first = context.inputs[0].type;
  const bool ragged = first.kind == LeafSpec::Kind::ragged;
  if (!ragged) context.tensor(0);
  Shape joined = first.shape;
  for (int i = 0; i < static_cast<int>(context.inputs.size()); ++i) {
    const LeafSpec& type =
        ragged ? infer_ragged(context, i, first.ragged_rank) : context.tensor_of(i, first.dtype);
    if (type.dtype != first.dtype)
      context.fail(i, "is " + type.text() + ", the first is " + first.text());
    if (!type.shape.has_rank() || type.shape.rank() != first.shape.rank() || type.shape.is_scalar())
      context.fail(i, "is " + type.text() + ", expected the rank of the first, at least 1");
    joined = Shape::join(joined, type.shape);
  }
  std::vector<int64_t> sizes = joined.without_front().sizes();
  sizes.insert(sizes.begin(), {static_cast<int64_t>(context.inputs.size()), Shape::kUnknown});
  const int rank = ragged ? first.ragged_rank + 1 : 1;
  return Spec::of(ragged_leaf(first.dtype, Shape(std::move(sizes)), rank));
}

// The splits of one axis of all parts, one behind the other.
Tensor joined_splits(std::span<const RaggedTensor* const> parts, size_t axis) {
  ChargedVector<int64_t> out{0};
  for (const RaggedTensor* part : parts) {
    const Tensor& splits = part->splits()[axis];
    const int64_t before = out.back();
    for (int64_t i = 1; i < splits.entries_count(); ++i)
      out.push_back(before + splits.entry<int64_t>(i));
  }
  return Tensor::vector<int64_t>(out);
}

void stack_row(const RowCall& call) {
  std::vector<const RaggedTensor*> parts;  // none where they are dense
  std::vector<Tensor> values;
  ChargedVector<int64_t> rows{0};
  int64_t total = 0;
  for (const Tensor& x : call.inputs) {
    const RaggedTensor* ragged = as_ragged(x);
    if (ragged) parts.push_back(ragged);
    values.push_back(ragged ? ragged->values() : x);
    if (!(values.back().dims().without_front() == values[0].dims().without_front())) {
      fail_row("ragged_stack",
               "rows of shapes " + values[0].dims().text() + " and " + values.back().dims().text());
    }
    rows.push_back(rows.back() + (ragged ? ragged->rows() : x.dims()[0]));
    total += values.back().dims()[0];
  }
  std::vector<Tensor> splits{Tensor::vector<int64_t>(rows)};
  for (size_t axis = 0; !parts.empty() && axis < parts[0]->splits().size(); ++axis)
    splits.push_back(joined_splits(parts, axis));
  Tensor out = Tensor::make(values[0].dtype(), values[0].dims().without_front().with_front(total));
  std::byte* to = out.mutable_data();
  for (const Tensor& x : values) {
    if (x.data_bytes() > 0) std::memcpy(to, x.data(), static_cast<size_t>(x.data_bytes()));
    to += x.data_bytes();
    share_strings(&out.mutable_buffer(), x.buffer(), x.dtype());
  }
  call.outputs[0].set(make_ragged(std::move(splits), std::move(out)));
}

}  // namespace

void add_ragged_stack_op(OpRegistry* registry) {
  OpDef op = ragged_op("ragged_stack",
                       "tensors of different lengths as the rows of a ragged one; ragged ones get "
                       "an axis more",
                       infer_stack, stack_row, {required("tensors", Param::Kind::tensors)});
  op.can_fail = true;
  registry->add(std::move(op));
}

}  // namespace penstock
