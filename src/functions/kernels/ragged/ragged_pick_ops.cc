// Rows and entries of ragged tensors picked: gather along axis 0, boolean_mask.

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {
namespace {

Spec infer_gather(const InferContext& context) {
  LeafSpec leaf = infer_ragged(context, 0);
  const LeafSpec& indices = infer_integers(context, 1, 1);
  std::vector<int64_t> sizes = leaf.shape.sizes();
  sizes[0] = indices.shape.has_rank() ? indices.shape[0] : Shape::kUnknown;
  leaf.shape = Shape(std::move(sizes));
  return Spec::of(std::move(leaf));
}

void gather_row(const RowCall& call) {
  const RaggedTensor& x = ragged_input(call, 0);
  const ChargedVector<int64_t> rows = read_ints(call.inputs[1]);
  for (const int64_t row : rows) {
    if (row < 0 || row >= x.rows()) {
      fail_row("gather",
               "row " + std::to_string(row) + " of " + std::to_string(x.rows()) + " rows");
    }
  }
  call.outputs[0].set(gather_rows(x, rows));
}

Spec infer_mask(const InferContext& context) {
  LeafSpec type = infer_ragged(context, 0, 1);
  const LeafSpec& mask = infer_ragged(context, 1, 1);
  if (mask.dtype != DType::boolean || mask.shape.rank() != 2)
    context.fail(1, "is " + mask.text() + ", expected ragged bool[?, ?]");
  std::vector<int64_t> sizes = type.shape.sizes();
  sizes[1] = Shape::kUnknown;
  type.shape = Shape(std::move(sizes));
  return Spec::of(std::move(type));
}

void mask_row(const RowCall& call) {
  const RaggedTensor &x = ragged_input(call, 0), &mask = ragged_input(call, 1);
  if (!x.splits()[0].same(mask.splits()[0]))
    fail_row("boolean_mask", "the mask's rows are not as long as those of x");
  ChargedVector<int64_t> splits{0}, items;
  for (int64_t row = 0; row < x.rows(); ++row) {
    for (int64_t i = x.begin(row); i < x.begin(row + 1); ++i) {
      if (mask.values().entry<bool>(i)) items.push_back(i);
    }
    splits.push_back(static_cast<int64_t>(items.size()));
  }
  call.outputs[0].set(
      make_ragged({Tensor::vector<int64_t>(splits)}, gather_items(x.values(), items)));
}

}  // namespace

void add_ragged_pick_ops(OpRegistry* registry) {
  const Param x = required("x", Param::Kind::tensor);
  OpDef gather = ragged_op("ragged_gather", "the rows of a ragged tensor that indices name",
                           infer_gather, gather_row, {x, required("indices", Param::Kind::tensor)});
  OpDef mask = ragged_op("ragged_boolean_mask", "the entries of x where mask is true, row by row",
                         infer_mask, mask_row, {x, required("mask", Param::Kind::tensor)});
  gather.can_fail = mask.can_fail = true;
  registry->add(std::move(gather));
  registry->add(std::move(mask));
}

}  // namespace penstock
