#include "data/ragged.h"

#include "base/error.h"

namespace penstock {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error(Code::invalid_argument, what); }

// Checks one axis's splits against the number of items in the next axis.
void check_splits(const Tensor& splits, int64_t items) {
  if (splits.dtype() != DType::int64 || splits.dims().rank() != 1 || splits.entries_count() == 0)
    fail("ragged: row splits must be a vector of int64 with an entry");
  const auto* at = splits.entries<int64_t>();
  if (at[0] != 0) fail("ragged: row splits start with " + std::to_string(at[0]) + ", not with 0");
  for (int64_t i = 1; i < splits.entries_count(); ++i) {
    if (at[i] < at[i - 1]) {
      fail("ragged: row splits descend from " + std::to_string(at[i - 1]) + " to " +
           std::to_string(at[i]));
    }
  }
  if (const int64_t last = at[splits.entries_count() - 1]; last != items) {
    fail("ragged: row splits end at " + std::to_string(last) + ", but there are " +
         std::to_string(items) + " values");
  }
}

}  // namespace

RaggedTensor::RaggedTensor(std::vector<Tensor> splits, Tensor values)
    : splits_(std::move(splits)), values_(std::move(values)) {
  PENSTOCK_CHECK(!splits_.empty());
  if (values_.dims().rank() == 0) fail("ragged: the values are a scalar");
  for (size_t i = splits_.size(); i-- > 0;) {
    check_splits(splits_[i],
                 i + 1 < splits_.size() ? splits_[i + 1].entries_count() - 1 : values_.dims()[0]);
  }
}

SparseTensor::SparseTensor(Tensor indices, Tensor values, Tensor shape)
    : indices_(std::move(indices)), values_(std::move(values)), shape_(std::move(shape)) {
  const bool types = indices_.dtype() == DType::int64 && shape_.dtype() == DType::int64;
  if (!types || indices_.dims().rank() != 2 || shape_.dims().rank() != 1 ||
      values_.dims().rank() != 1 || indices_.dims()[1] != shape_.dims()[0]) {
    fail("sparse: expected indices int64[n, rank], values [n] and shape int64[rank]");
  }
  if (indices_.dims()[0] != values_.dims()[0]) {
    fail("sparse: " + std::to_string(indices_.dims()[0]) + " indices for " +
         std::to_string(values_.dims()[0]) + " values");
  }
}

Tensor make_ragged(std::vector<Tensor> splits, Tensor values) {
  return Tensor(std::make_shared<const RaggedTensor>(std::move(splits), std::move(values)));
}

Tensor make_sparse(Tensor indices, Tensor values, Tensor shape) {
  return Tensor(std::make_shared<const SparseTensor>(std::move(indices), std::move(values),
                                                     std::move(shape)));
}

const RaggedTensor* as_ragged(const Tensor& tensor) {
  return dynamic_cast<const RaggedTensor*>(tensor.object().get());
}

const SparseTensor* as_sparse(const Tensor& tensor) {
  return dynamic_cast<const SparseTensor*>(tensor.object().get());
}

LeafSpec ragged_leaf(DType dtype, Shape shape, int ragged_rank) {
  return {LeafSpec::Kind::ragged, dtype, std::move(shape), ragged_rank, nullptr};
}

bool is_dense(const LeafSpec& leaf) {
  return leaf.is_tensor() || (leaf.kind == LeafSpec::Kind::ragged && leaf.ragged_rank == 0);
}

LeafSpec row_as_tensor(LeafSpec leaf) {
  if (is_dense(leaf)) leaf.kind = LeafSpec::Kind::tensor;
  return leaf;
}

LeafSpec sparse_leaf(DType dtype, Shape shape) {
  return {LeafSpec::Kind::sparse, dtype, std::move(shape), 0, nullptr};
}

}  // namespace penstock
