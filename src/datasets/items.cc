#include "datasets/items.h"

#include "data/object_column.h"
#include "data/object_list.h"
#include "data/ragged.h"
#include "plan/node.h"

namespace penstock {
namespace {

// Item i of a tensor of two ragged axes or more.
ObjectPtr ragged_item(const RaggedTensor& t, int64_t i) {
  int64_t begin = t.begin(i), end = t.begin(i + 1);
  std::vector<Tensor> splits;
  for (size_t k = 1; k < t.splits().size(); ++k) {
    const auto* from = t.splits()[k].entries<int64_t>();
    Tensor part = Tensor::make(DType::int64, {end - begin + 1});
    for (int64_t j = begin; j <= end; ++j)
      part.mutable_entries<int64_t>()[j - begin] = from[j] - from[begin];
    splits.push_back(std::move(part));
    begin = from[begin];
    end = from[end];
  }
  const Dims inner = t.values().dims().without_front();
  const int64_t bytes = inner.entries() * dtype_size(t.values().dtype());
  Tensor values(t.values().dtype(), inner.with_front(end - begin), t.values().buffer(),
                const_cast<std::byte*>(t.values().data()) + begin * bytes);
  return make_ragged(std::move(splits), std::move(values)).object();
}

Column ragged_items(const RaggedTensor& t, const LeafSpec& leaf) {
  if (t.ragged_rank() == 1 && leaf.shape.has_rank() && leaf.shape[1] >= 0) {
    const Dims item = t.values().dims().without_front().with_front(leaf.shape[1]);
    return Column::dense(t.values().dtype(), item, t.rows(), t.values().buffer(),
                         const_cast<std::byte*>(t.values().data()));
  }
  if (t.ragged_rank() == 1) return Column::ragged(t.values(), t.splits()[0].buffer(), t.rows());
  std::vector<ObjectPtr> rows;
  for (int64_t i = 0; i < t.rows(); ++i) rows.push_back(ragged_item(t, i));
  return object_column(std::move(rows));
}

Tensor picked(const Tensor& values, const std::vector<int64_t>& at) {
  const auto entry = static_cast<size_t>(dtype_size(values.dtype()));
  Tensor out = Tensor::make(values.dtype(), {static_cast<int64_t>(at.size())});
  for (size_t i = 0; i < at.size(); ++i)
    std::memcpy(out.mutable_data() + i * entry, values.data() + static_cast<size_t>(at[i]) * entry,
                entry);
  if (values.dtype() == DType::bytes) out.mutable_buffer().keep(values.buffer());
  return out;
}

Column sparse_items(const SparseTensor& t) {
  const int64_t rank = t.shape().entries_count(), n = t.shape().entry<int64_t>(0);
  const auto* indices = t.indices().entries<int64_t>();
  std::vector<std::vector<int64_t>> entries(static_cast<size_t>(n));
  for (int64_t i = 0; i < t.values().entries_count(); ++i) {
    const int64_t row = indices[i * rank];
    if (row < 0 || row >= n) {
      throw Error(Code::invalid_argument, "sparse: index " + std::to_string(row) +
                                              " lies outside the size " + std::to_string(n));
    }
    entries[static_cast<size_t>(row)].push_back(i);
  }
  const Tensor shape =
      Tensor::vector<int64_t>({t.shape().entries<int64_t>() + 1, static_cast<size_t>(rank - 1)});
  std::vector<ObjectPtr> rows;
  for (const std::vector<int64_t>& at : entries) {
    std::vector<int64_t> inner;
    for (const int64_t i : at)
      inner.insert(inner.end(), indices + i * rank + 1, indices + (i + 1) * rank);
    const Dims dims{static_cast<int64_t>(at.size()), rank - 1};
    rows.push_back(
        make_sparse(Tensor::vector<int64_t>(inner).reshaped(dims), picked(t.values(), at), shape)
            .object());
  }
  return object_column(std::move(rows));
}

}  // namespace

Column item_column(const Tensor& value, const LeafSpec& leaf) {
  if (const RaggedTensor* ragged = as_ragged(value)) return ragged_items(*ragged, leaf);
  if (const auto* list = dynamic_cast<const ObjectList*>(value.object().get()))
    return object_column(list->items());
  const SparseTensor* sparse = as_sparse(value);
  if (sparse && sparse->shape().entries_count() > 0) return sparse_items(*sparse);
  if (sparse || value.object() || value.dims().rank() == 0) {
    throw Error(Code::invalid_argument,
                "a scalar has no items: " + leaf.text() + " turned out to be one");
  }
  return Column::dense(value.dtype(), value.dims().without_front(), value.dims()[0], value.buffer(),
                       const_cast<std::byte*>(value.data()));
}

LeafSpec item_leaf(const LeafSpec& leaf) {
  LeafSpec out = leaf;
  out.shape = leaf.shape.without_front();
  if (leaf.kind != LeafSpec::Kind::ragged) return out;
  if (leaf.ragged_rank == 0) return LeafSpec::tensor(leaf.dtype, out.shape);
  --out.ragged_rank;
  return out;
}

int64_t first_size(const LeafSpec& leaf, const std::string& what) {
  if (is_dataset(leaf)) NodeDraft::fail("input", what + " nested datasets");
  if (leaf.kind == LeafSpec::Kind::optional) NodeDraft::fail("input", what + " " + leaf.text());
  if (!leaf.shape.has_rank()) return -1;
  if (leaf.shape.rank() == 0) NodeDraft::fail("input", what + " scalars");
  return leaf.shape[0];
}

}  // namespace penstock
