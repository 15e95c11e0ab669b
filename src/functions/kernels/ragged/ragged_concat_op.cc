// concat of ragged tensors: rows behind rows (axis 0), or each row's entries (axis 1).

#include <cstring>

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {
namespace {

Spec infer_concat(const InferContext& context) {
  if (context.inputs.empty()) context.fail("needs ragged tensors");
  LeafSpec leaf = infer_ragged(context, 0, 1);
  const int axis = infer_axis(context, "axis", context.attrs["axis"].as_int(), leaf.shape.rank());
  if (axis > 1)
    throw TypeError{-1, "axis", "must be 0 or 1 for ragged tensors: " + std::to_string(axis)};
  int64_t rows = 0;
  Shape joined = leaf.shape;  // of rows and values that only some inputs know
  for (int i = 0; i < static_cast<int>(context.inputs.size()); ++i) {
    const LeafSpec& type = infer_ragged(context, i, 1);
    if (type.dtype != leaf.dtype || type.shape.rank() != leaf.shape.rank())
      context.fail(i, "is " + type.text() + ", the first is " + leaf.text());
    rows = rows < 0 || type.shape[0] < 0 ? -1 : rows + type.shape[0];
    joined = Shape::join(joined, type.shape);
  }
  std::vector<int64_t> sizes = joined.sizes();
  if (axis == 0) sizes[0] = rows;
  if (axis == 1) sizes[0] = leaf.shape[0], sizes[1] = Shape::kUnknown;
  leaf.shape = Shape(std::move(sizes));
  return Spec::of(std::move(leaf));
}

void concat_row(const RowCall& call) {
  const RaggedTensor& first = ragged_input(call, 0);
  const int64_t axis = call.attrs["axis"].as_int();
  const bool rows_behind = axis == 0 || axis == -1 - first.values().dims().rank();
  const Dims item = first.values().dims().without_front();
  std::vector<const RaggedTensor*> parts;
  int64_t total = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    parts.push_back(&ragged_input(call, i));
    if (!(parts[i]->values().dims().without_front() == item))
      fail_row("concat", "values of different shapes");
    if (!rows_behind && parts[i]->rows() != first.rows()) {
      fail_row("concat", std::to_string(first.rows()) + " rows and " +
                             std::to_string(parts[i]->rows()) + " rows");
    }
    total += parts[i]->values().dims()[0];
  }
  Tensor values = Tensor::make(first.values().dtype(), item.with_front(total));
  const int64_t bytes = item.entries() * dtype_size(values.dtype());
  ChargedVector<int64_t> splits{0};
  int64_t at = 0;
  auto append = [&](const RaggedTensor& part, int64_t row) {
    const int64_t n = part.length(row);
    if (n * bytes > 0)
      std::memcpy(values.mutable_data() + at * bytes,
                  part.values().data() + part.begin(row) * bytes, static_cast<size_t>(n * bytes));
    at += n;
  };
  if (rows_behind) {
    for (const RaggedTensor* part : parts) {
      for (int64_t row = 0; row < part->rows(); ++row) {
        append(*part, row);
        splits.push_back(at);
      }
    }
  } else {
    for (int64_t row = 0; row < first.rows(); ++row) {
      for (const RaggedTensor* part : parts) append(*part, row);
      splits.push_back(at);
    }
  }
  for (const RaggedTensor* part : parts)
    share_strings(&values.mutable_buffer(), part->values().buffer(), values.dtype());
  call.outputs[0].set(make_ragged({Tensor::vector<int64_t>(splits)}, std::move(values)));
}

}  // namespace

void add_ragged_concat_op(OpRegistry* registry) {
  OpDef op =
      ragged_op("ragged_concat", "ragged tensors joined: rows (axis 0), or row by row (axis 1)",
                infer_concat, concat_row,
                {required("tensors", Param::Kind::tensors),
                 option("axis", Param::Kind::integer, Attr::integer(0))});
  op.can_fail = true;
  registry->add(std::move(op));
}

}  // namespace penstock
