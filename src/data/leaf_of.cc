#include "data/leaf_of.h"

#include "data/optional.h"
#include "data/ragged.h"

namespace penstock {

LeafSpec leaf_of(const Tensor& tensor) {
  if (const RaggedTensor* t = as_ragged(tensor)) {
    std::vector<int64_t> sizes(static_cast<size_t>(t->ragged_rank()) + 1, Shape::kUnknown);
    sizes[0] = t->rows();
    const Dims inner = t->values().dims().without_front();
    sizes.insert(sizes.end(), inner.sizes().begin(), inner.sizes().end());
    return ragged_leaf(t->values().dtype(), Shape(std::move(sizes)), t->ragged_rank());
  }
  if (const SparseTensor* t = as_sparse(tensor)) {
    const auto* sizes = t->shape().entries<int64_t>();
    return sparse_leaf(t->values().dtype(),
                       Shape(std::vector<int64_t>(sizes, sizes + t->shape().entries_count())));
  }
  if (const OptionalTensor* t = as_optional(tensor)) return optional_leaf(t->dtype(), t->shape());
  return LeafSpec::tensor(tensor.dtype(), Shape(tensor.dims()));
}

}  // namespace penstock
