// What a ragged tensor is made of: flat_values, row_splits, row_lengths, with_flat_values.

#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {
namespace {

Spec infer_flat(const InferContext& context) {
  const LeafSpec& type = context.inputs[0].type;
  if (type.kind == LeafSpec::Kind::sparse) return Spec::tensor(type.dtype, {Shape::kUnknown});
  infer_ragged(context, 0);
  std::vector<int64_t> sizes{Shape::kUnknown};
  sizes.insert(sizes.end(), type.shape.sizes().begin() + type.ragged_rank + 1,
               type.shape.sizes().end());
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

void flat_row(const RowCall& call) {
  const SparseTensor* sparse = as_sparse(call.inputs[0]);
  call.outputs[0].set(sparse ? sparse->values() : ragged_input(call, 0).values());
}

Spec infer_splits(const InferContext& context) {
  const int64_t rows = infer_ragged(context, 0).shape[0];
  return Spec::tensor(DType::int64, {rows < 0 ? rows : rows + 1});
}

void splits_row(const RowCall& call) { call.outputs[0].set(ragged_input(call, 0).splits()[0]); }

Spec infer_lengths(const InferContext& context) {
  return Spec::tensor(DType::int64, {infer_ragged(context, 0).shape[0]});
}

void lengths_row(const RowCall& call) {
  const RaggedTensor& x = ragged_input(call, 0);
  auto* out = call.outputs[0].allocate_as<int64_t>({x.rows()});
  for (int64_t i = 0; i < x.rows(); ++i) out[i] = x.length(i);
}

Spec infer_with(const InferContext& context) {
  LeafSpec leaf = infer_ragged(context, 0);
  const LeafSpec& values = context.tensor(1);
  leaf.dtype = values.dtype;
  std::vector<int64_t> sizes(leaf.shape.sizes().begin(),
                             leaf.shape.sizes().begin() + leaf.ragged_rank + 1);
  if (values.shape.has_rank() && values.shape.rank() > 0) {
    sizes.insert(sizes.end(), values.shape.sizes().begin() + 1, values.shape.sizes().end());
  }
  leaf.shape = Shape(std::move(sizes));
  return Spec::of(std::move(leaf));
}

void with_row(const RowCall& call) {
  call.outputs[0].set(make_ragged(ragged_input(call, 0).splits(), call.inputs[1]));
}

Spec infer_aligned(const InferContext& context) {
  const LeafSpec& like = infer_ragged(context, 1);
  if (infer_ragged(context, 0).ragged_rank != like.ragged_rank)
    context.fail(0, "is " + context.inputs[0].type.text() + ", the other side " + like.text());
  return infer_flat(context);
}

void aligned_row(const RowCall& call) {
  const RaggedTensor &x = ragged_input(call, 0), &like = ragged_input(call, 1);
  for (size_t k = 0; k < x.splits().size(); ++k) {
    if (!x.splits()[k].same(like.splits()[k]))
      fail_row("ragged", "two ragged tensors of different row lengths meet");
  }
  call.outputs[0].set(x.values());
}

}  // namespace

void add_ragged_parts_ops(OpRegistry* registry) {
  const Param x = required("x", Param::Kind::tensor);
  OpDef ops[] = {
      ragged_op("flat_values", "the values of a ragged or sparse tensor, without its axes",
                infer_flat, flat_row, {x}),
      ragged_op("row_splits", "where the rows of a ragged tensor begin, and the end", infer_splits,
                splits_row, {x}),
      ragged_op("row_lengths", "the length of each row of a ragged tensor", infer_lengths,
                lengths_row, {x}),
      ragged_op("with_flat_values", "values in the rows of x", infer_with, with_row,
                {x, required("values", Param::Kind::tensor)}),
      ragged_op("aligned_values", "the values of x, whose rows must be as long as those of like",
                infer_aligned, aligned_row, {x, required("like", Param::Kind::tensor)})};
  ops[3].can_fail = ops[4].can_fail = true;
  for (OpDef& op : ops) {
    op.cost_ns = 50;
    registry->add(std::move(op));
  }
}

}  // namespace penstock
