#include "datasets/stacking.h"

#include <algorithm>

#include "data/object_column.h"
#include "data/object_list.h"
#include "data/ragged.h"

namespace penstock {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error(Code::invalid_argument, what); }

[[noreturn]] void fail_shapes(const Dims& first, int64_t row, const Dims& other) {
  fail("elements of one batch have different shapes: element 0 " + first.text() + ", element " +
       std::to_string(row) + " " + other.text() + "; use padded_batch");
}

// Tensors one after the other along axis 0. REQUIRES at least one, of one dtype and inner shape.
Tensor joined(const std::vector<Tensor>& parts) {
  int64_t items = 0;
  for (const Tensor& t : parts) items += t.dims()[0];
  Tensor out = Tensor::make(parts[0].dtype(), parts[0].dims().without_front().with_front(items));
  std::byte* to = out.mutable_data();
  for (const Tensor& t : parts) {
    const auto bytes = static_cast<size_t>(t.data_bytes());
    if (bytes > 0) std::memcpy(to, t.data(), bytes);
    if (t.dtype() == DType::bytes) out.mutable_buffer().keep(t.buffer());
    to += bytes;
  }
  return out;
}

Tensor stack_dense(const Column& rows, int64_t begin, int64_t n) {
  const Dims dims = rows.dims_of(begin);
  Tensor out = Tensor::make(rows.dtype(), dims.with_front(n));
  const auto bytes = static_cast<size_t>(dims.entries() * dtype_size(rows.dtype()));
  for (int64_t r = 0; r < n; ++r) {
    const Tensor row = rows.row(begin + r);
    if (!(row.dims() == dims)) fail_shapes(dims, r, row.dims());
    if (bytes > 0)
      std::memcpy(out.mutable_data() + static_cast<size_t>(r) * bytes, row.data(), bytes);
    if (rows.dtype() == DType::bytes) out.mutable_buffer().keep(row.buffer());
  }
  return out;
}

// Splits of `items` items of `size` entries each, appended behind those that are there.
void append_uniform(int64_t items, int64_t size, std::vector<int64_t>* splits) {
  for (int64_t i = 0; i < items; ++i) splits->push_back(splits->back() + size);
}

// Rows whose ragged axes are the first `inner` ones: plain tensors, or ragged ones of that rank.
Tensor stack_ragged(const Column& rows, int inner, int64_t begin, int64_t n) {
  std::vector<std::vector<int64_t>> splits(static_cast<size_t>(inner) + 1, {0});
  std::vector<Tensor> values;
  for (int64_t r = 0; r < n; ++r) {
    const Tensor row = rows.row(begin + r);
    if (const RaggedTensor* ragged = as_ragged(row)) {
      if (ragged->ragged_rank() != inner) fail("ragged elements of one batch differ in rank");
      splits[0].push_back(splits[0].back() + ragged->rows());
      for (size_t k = 0; k < ragged->splits().size(); ++k) {
        const Tensor& from = ragged->splits()[k];
        const int64_t base = splits[k + 1].back();
        for (int64_t i = 1; i < from.entries_count(); ++i)
          splits[k + 1].push_back(base + from.entry<int64_t>(i));
      }
      values.push_back(ragged->values());
    } else {
      if (row.dims().rank() <= inner)
        fail("an element has shape " + row.dims().text() + ", expected rank " +
             std::to_string(inner + 1));
      splits[0].push_back(splits[0].back() + row.dims()[0]);
      int64_t items = row.dims()[0];
      Dims rest = row.dims().without_front();
      for (size_t k = 1; k < splits.size(); ++k) {
        append_uniform(items, rest[0], &splits[k]);
        items *= rest[0];
        rest = rest.without_front();
      }
      values.push_back(row.reshaped(rest.with_front(items)));
    }
    const Dims &first = values[0].dims(), &last = values.back().dims();
    if (!(last.without_front() == first.without_front())) fail_shapes(first, r, last);
  }
  std::vector<Tensor> tensors;
  for (const std::vector<int64_t>& s : splits) tensors.push_back(Tensor::vector<int64_t>(s));
  return make_ragged(std::move(tensors), joined(values));
}

Tensor stack_sparse(const Column& rows, int64_t begin, int64_t n) {
  std::vector<Tensor> values;
  std::vector<int64_t> indices, shape;
  for (int64_t r = 0; r < n; ++r) {
    const Tensor row = rows.row(begin + r);
    const SparseTensor* sparse = as_sparse(row);
    PENSTOCK_CHECK(sparse != nullptr);
    const int64_t rank = sparse->shape().entries_count();
    if (r == 0) shape.assign(static_cast<size_t>(rank) + 1, 0);
    if (static_cast<int64_t>(shape.size()) != rank + 1)
      fail("sparse elements of one batch differ in rank");
    for (int64_t k = 0; k < rank; ++k) {
      int64_t& size = shape[static_cast<size_t>(k) + 1];
      size = std::max(size, sparse->shape().entry<int64_t>(k));
    }
    const auto* at = sparse->indices().entries<int64_t>();
    for (int64_t i = 0; i < sparse->values().entries_count(); ++i) {
      indices.push_back(r);
      indices.insert(indices.end(), at + i * rank, at + (i + 1) * rank);
    }
    values.push_back(sparse->values());
  }
  shape[0] = n;
  Tensor all = joined(values);
  const Dims dims{all.entries_count(), static_cast<int64_t>(shape.size())};
  return make_sparse(Tensor::vector<int64_t>(indices).reshaped(dims), std::move(all),
                     Tensor::vector<int64_t>(shape));
}

Tensor stack_datasets(const Column& rows, int64_t begin, int64_t n) {
  std::vector<ObjectPtr> items;
  for (int64_t r = 0; r < n; ++r) items.push_back(rows.row(begin + r).object());
  return Tensor(std::make_shared<const ObjectList>(std::move(items)));
}

Tensor stack(const Column& rows, const LeafSpec& leaf, int64_t begin, int64_t n) {
  switch (leaf.kind) {
    case LeafSpec::Kind::ragged: return stack_ragged(rows, leaf.ragged_rank, begin, n);
    case LeafSpec::Kind::sparse: return stack_sparse(rows, begin, n);
    case LeafSpec::Kind::dataset: return stack_datasets(rows, begin, n);
    default: return stack_dense(rows, begin, n);
  }
}

}  // namespace

void add_row_error(int64_t row, ErrorPtr error, std::vector<RowError>* errors) {
  const auto at = std::ranges::lower_bound(*errors, row, {}, &RowError::row);
  if (at != errors->end() && at->row == row) return;
  errors->insert(at, {row, std::move(error)});
}

Column stack_rows(const Column& rows, const LeafSpec& leaf, int64_t count, int64_t n,
                  std::vector<RowError>* errors) {
  const Column flat = leaf.is_tensor() ? rows.expanded() : rows;
  if (leaf.is_tensor() && flat.kind() == Column::Kind::dense) return flat.grouped(n);
  std::vector<Tensor> tensors;
  std::vector<ObjectPtr> objects;
  for (int64_t b = 0; b < count; ++b) {
    Tensor batch;
    try {
      batch = stack(flat, leaf, b * n, n);
    } catch (const Error&) {
      add_row_error(b, current_error(), errors);
    }
    if (leaf.is_tensor()) {
      tensors.push_back(std::move(batch));
    } else {
      objects.push_back(batch.object());
    }
  }
  if (leaf.is_tensor()) return Column::variable(flat.dtype(), std::move(tensors));
  return object_column(std::move(objects));
}

}  // namespace penstock
