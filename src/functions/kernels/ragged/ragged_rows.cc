#include "functions/kernels/ragged/ragged_rows.h"

#include <cstring>

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"

namespace penstock {

const LeafSpec& infer_ragged(const InferContext& context, int i, int rank) {
  const LeafSpec& type = context.inputs[static_cast<size_t>(i)].type;
  if (type.kind != LeafSpec::Kind::ragged)
    context.fail(i, "is " + type.text() + ", expected a ragged tensor");
  if (rank >= 0 && type.ragged_rank != rank) {
    context.fail(i, "is " + type.text() + ", expected " + std::to_string(rank) + " ragged axis");
  }
  return type;
}

const RaggedTensor& ragged_input(const RowCall& call, size_t i) {
  const RaggedTensor* ragged = as_ragged(call.inputs[i]);
  if (!ragged) throw Error(Code::internal, "a ragged tensor was expected");
  return *ragged;
}

Tensor gather_items(const Tensor& values, std::span<const int64_t> items) {
  const Dims item = values.dims().without_front();
  Tensor out = Tensor::make(values.dtype(), item.with_front(static_cast<int64_t>(items.size())));
  const int64_t bytes = item.entries() * dtype_size(values.dtype());
  std::byte* to = out.mutable_data();
  for (const int64_t i : items) {
    if (bytes > 0) std::memcpy(to, values.data() + i * bytes, static_cast<size_t>(bytes));
    to += bytes;
  }
  share_strings(&out.mutable_buffer(), values.buffer(), values.dtype());
  return out;
}

Tensor gather_rows(const RaggedTensor& x, std::span<const int64_t> rows) {
  ChargedVector<int64_t> items(rows.begin(), rows.end());
  std::vector<Tensor> splits;
  for (const Tensor& axis : x.splits()) {
    const auto* at = axis.entries<int64_t>();
    ChargedVector<int64_t> cut{0}, inner;
    for (const int64_t i : items) {
      for (int64_t k = at[i]; k < at[i + 1]; ++k) inner.push_back(k);
      cut.push_back(static_cast<int64_t>(inner.size()));
    }
    splits.push_back(Tensor::vector<int64_t>(cut));
    items = std::move(inner);
  }
  return make_ragged(std::move(splits), gather_items(x.values(), items));
}

Tensor ragged_row(const RaggedTensor& x, int64_t i) {
  const int64_t begin = x.begin(i), length = x.length(i);
  if (x.ragged_rank() == 1) {
    const Dims item = x.values().dims().without_front();
    auto* data = const_cast<std::byte*>(x.values().data()) +
                 begin * item.entries() * dtype_size(x.values().dtype());
    return {x.values().dtype(), item.with_front(length), x.values().buffer(), data};
  }
  const RaggedTensor inner(std::vector<Tensor>(x.splits().begin() + 1, x.splits().end()),
                           x.values());
  ChargedVector<int64_t> rows;
  for (int64_t k = 0; k < length; ++k) rows.push_back(begin + k);
  return gather_rows(inner, rows);
}

OpDef ragged_op(std::string name, std::string doc, Spec (*infer)(const InferContext&),
                RowKernel row, std::vector<Param> params) {
  OpDef op;
  op.name = std::move(name);
  op.params = std::move(params);
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.cost_ns = 300;
  op.group = "ragged";
  return op;
}

}  // namespace penstock
