// Values of a row that are not rectangular tensors: ragged and sparse ones.
//
// A Tensor holds either as an Object, so columns cut and gather it like any other object.
#pragma once

#include <vector>

#include "data/spec.h"
#include "data/tensor.h"

namespace penstock {

// Splits of the ragged axes, outermost first: int64 vectors that start with 0 and ascend. Item i of
// axis k is [splits[k][i], splits[k][i + 1]) of axis k + 1; the last splits cut `values`.
class RaggedTensor final : public Object {
 public:
  // Throws INVALID_ARGUMENT if splits do not fit each other or the values.
  RaggedTensor(std::vector<Tensor> splits, Tensor values);

  int ragged_rank() const { return static_cast<int>(splits_.size()); }
  const std::vector<Tensor>& splits() const { return splits_; }
  const Tensor& values() const { return values_; }
  // Items along axis 0; start and end of item i in the next axis.
  int64_t rows() const { return splits_[0].entries_count() - 1; }
  int64_t begin(int64_t i) const { return splits_[0].entry<int64_t>(i); }
  int64_t length(int64_t i) const { return begin(i + 1) - begin(i); }

 private:
  std::vector<Tensor> splits_;
  Tensor values_;
};

// indices: int64 [n, rank]; values: [n]; shape: int64 [rank].
class SparseTensor final : public Object {
 public:
  // Throws INVALID_ARGUMENT if the three do not fit each other. Does not compare indices with the
  // shape.
  SparseTensor(Tensor indices, Tensor values, Tensor shape);

  const Tensor& indices() const { return indices_; }
  const Tensor& values() const { return values_; }
  const Tensor& shape() const { return shape_; }

 private:
  Tensor indices_, values_, shape_;
};

Tensor make_ragged(std::vector<Tensor> splits, Tensor values);
Tensor make_sparse(Tensor indices, Tensor values, Tensor shape);
// Returns null if the tensor is of another kind.
const RaggedTensor* as_ragged(const Tensor& tensor);
const SparseTensor* as_sparse(const Tensor& tensor);

// Leaf specs. `shape` has all axes; the ragged ones (1 to ragged_rank) are unknown, or uniform.
//
// Rows of a ragged tensor with one ragged axis have ragged rank 0. Their values are dense tensors,
// and every operator except a batch treats them as such; a batch joins them to a ragged tensor
// again.
LeafSpec ragged_leaf(DType dtype, Shape shape, int ragged_rank);
// Returns whether the values are dense tensors.
bool is_dense(const LeafSpec& leaf);
// Returns the leaf of a dense tensor for such a row; any other leaf unchanged.
LeafSpec row_as_tensor(LeafSpec leaf);
LeafSpec sparse_leaf(DType dtype, Shape shape);

}  // namespace penstock
