// A sparse tensor's indices and sizes: sparse_indices, sparse_shape, sparse_size, sparse_rank.

#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"
#include "functions/kernels/ragged/sparse_rows.h"

namespace penstock {

const LeafSpec& infer_sparse(const InferContext& context, int i) {
  const LeafSpec& type = context.inputs[static_cast<size_t>(i)].type;
  if (type.kind != LeafSpec::Kind::sparse)
    context.fail(i, "is " + type.text() + ", expected a sparse tensor");
  return type;
}

const SparseTensor& sparse_input(const RowCall& call, size_t i) {
  const SparseTensor* x = as_sparse(call.inputs[i]);
  if (!x) fail_row("sparse", "a row has no value");
  return *x;
}

namespace {

Spec infer_indices(const InferContext& context) {
  return Spec::tensor(DType::int64, {Shape::kUnknown, infer_sparse(context, 0).shape.rank()});
}

Spec infer_shape(const InferContext& context) {
  return Spec::tensor(DType::int64, {infer_sparse(context, 0).shape.rank()});
}

Spec infer_scalar(const InferContext& context) {
  infer_sparse(context, 0);
  return Spec::tensor(DType::int64, {});
}

void size_row(const RowCall& call) {
  const Tensor& shape = sparse_input(call, 0).shape();
  int64_t entries = 1;
  bool fits = true;
  for (int64_t i = 0; i < shape.entries_count(); ++i)
    fits &= !__builtin_mul_overflow(entries, shape.entry<int64_t>(i), &entries);
  if (!fits) fail_row("sparse_size", "the number of entries does not fit 64 bits");
  *call.outputs[0].allocate_as<int64_t>({}) = entries;
}

}  // namespace

void add_sparse_parts_ops(OpRegistry* registry) {
  const Param x = required("x", Param::Kind::tensor);
  OpDef ops[] = {
      ragged_op("sparse_indices", "where the values of a sparse tensor stand, [n, rank]: x.indices",
                infer_indices,
                [](const RowCall& c) { c.outputs[0].set(sparse_input(c, 0).indices()); }, {x}),
      ragged_op("sparse_shape", "the sizes of a sparse tensor: x.dense_shape", infer_shape,
                [](const RowCall& c) { c.outputs[0].set(sparse_input(c, 0).shape()); }, {x}),
      ragged_op("sparse_size", "the number of entries of a sparse tensor, zeros included",
                infer_scalar, size_row, {x}),
      ragged_op("sparse_rank", "the number of axes of a sparse tensor", infer_scalar,
                [](const RowCall& c) {
                  *c.outputs[0].allocate_as<int64_t>({}) =
                      sparse_input(c, 0).shape().entries_count();
                },
                {x})};
  ops[2].can_fail = true;
  for (OpDef& op : ops) {
    op.cost_ns = 50;
    registry->add(std::move(op));
  }
}

}  // namespace penstock
