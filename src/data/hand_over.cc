#include "data/hand_over.h"

#include "data/optional.h"
#include "data/ragged.h"

namespace penstock {
namespace {

void hand_over(const Tensor& t) {
  hand_over(t.buffer());
  if (const RaggedTensor* ragged = as_ragged(t)) {
    for (const Tensor& splits : ragged->splits()) hand_over(splits.buffer());
    hand_over(ragged->values().buffer());
  } else if (const SparseTensor* sparse = as_sparse(t)) {
    for (const Tensor* part : {&sparse->indices(), &sparse->values(), &sparse->shape()})
      hand_over(part->buffer());
  } else if (const OptionalTensor* optional = as_optional(t); optional && optional->has_value()) {
    hand_over(optional->value().buffer());
  }
}

// Returns the same rows with splits of their own, eight bytes each: a column does not know the
// buffer of its splits.
Column with_own_splits(Column ragged) {
  const int64_t rows = ragged.rows();
  BufferRef splits = process_pool().allocate((rows + 1) * static_cast<int64_t>(sizeof(int64_t)));
  std::memcpy(splits.data(), ragged.splits(), static_cast<size_t>(rows + 1) * sizeof(int64_t));
  const Dims dims = ragged.row_dims().with_front(ragged.splits()[rows]);
  Tensor values(ragged.dtype(), dims, ragged.buffer(), ragged.mutable_data());
  return Column::ragged(std::move(values), std::move(splits), rows);
}

}  // namespace

void hand_over(Block* block) {
  for (Column& c : block->columns) {
    hand_over(c.buffer());
    if (c.kind() == Column::Kind::ragged) c = with_own_splits(std::move(c));
    if (c.kind() != Column::Kind::variable && c.kind() != Column::Kind::object) continue;
    for (int64_t i = 0; i < c.rows(); ++i) hand_over(c.row(i));
  }
}

}  // namespace penstock
