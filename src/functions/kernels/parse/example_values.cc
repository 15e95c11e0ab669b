#include "functions/kernels/parse/example_values.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "data/charged.h"
#include "data/ragged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/partition.h"

namespace penstock {
namespace {

using Kind = ExampleFeature::Kind;

Shape unknown_axes(int64_t front, size_t count) {
  std::vector<int64_t> sizes{front};
  sizes.resize(count, Shape::kUnknown);
  return Shape(std::move(sizes));
}

}  // namespace

LeafSpec feature_leaf(const ExampleFeature& feature) {
  const size_t axes = feature.partitions.size();
  switch (feature.kind) {
    case Kind::fixed: return LeafSpec::tensor(feature.dtype, Shape(feature.dims));
    case Kind::sequence:
      return LeafSpec::tensor(feature.dtype, Shape(feature.dims).with_front(Shape::kUnknown));
    case Kind::var: return sparse_leaf(feature.dtype, {Shape::kUnknown});
    case Kind::sparse: return sparse_leaf(feature.dtype, Shape(feature.dims));
    case Kind::ragged: break;
  }
  if (axes == 0) return LeafSpec::tensor(feature.dtype, {Shape::kUnknown});
  if (!feature.is_uniform())
    return ragged_leaf(feature.dtype, unknown_axes(Shape::kUnknown, axes + 1),
                       static_cast<int>(axes));
  std::vector<int64_t> sizes{Shape::kUnknown};
  for (const Partition& p : feature.partitions) sizes.push_back(p.length);
  return LeafSpec::tensor(feature.dtype, Shape(std::move(sizes)));
}

LeafSpec feature_batch_leaf(const ExampleFeature& feature, int64_t batch) {
  LeafSpec leaf = feature_leaf(feature);
  if (feature.kind == Kind::ragged) {
    const int rank = static_cast<int>(feature.partitions.size()) + 1;
    return ragged_leaf(feature.dtype, unknown_axes(batch, static_cast<size_t>(rank) + 1), rank);
  }
  leaf.shape = leaf.shape.with_front(batch);
  return leaf;
}

FeatureValues::FeatureValues(const ExampleFeature& feature)
    : feature_(feature),
      entry_bytes_(dtype_size(feature.dtype)),
      partitions_(feature.partitions.size(), ChargedVector<int64_t>{0}) {}

void FeatureValues::add(const ExamplePlan& plan, size_t index, std::span<const FeatureView> views) {
  const FeatureView& view = views[plan.slot(index)];
  const bool fixed = feature_.kind == Kind::fixed;
  const int64_t count = fixed ? feature_.count : checked_count(feature_, view);
  const size_t before = bytes_.size(), known = indices_.size();
  bytes_.resize(before + static_cast<size_t>(count * entry_bytes_));
  try {
    if (fixed) {
      read_fixed(feature_, view, bytes_.data() + before);
    } else {
      read_values(feature_, view, count, bytes_.data() + before);
    }
    if (feature_.kind == Kind::ragged) add_partitions(plan, index, views, count);
    if (feature_.kind == Kind::sparse) add_indices(plan, index, views, count, &bytes_[before]);
  } catch (const Error&) {
    bytes_.resize(before);
    indices_.resize(known);
    throw;
  }
  splits_.push_back(splits_.back() + count);
}

void FeatureValues::add_partitions(const ExamplePlan& plan, size_t index,
                                   std::span<const FeatureView> views, int64_t values) {
  // From the innermost out: each axis's splits say how many items the next one cuts.
  int64_t items = values;
  std::vector<ChargedVector<int64_t>> own(partitions_.size());
  for (size_t k = partitions_.size(); k-- > 0;) {
    const Partition& partition = feature_.partitions[k];
    ChargedVector<int64_t> entries;
    if (partition.kind != Partition::Kind::uniform)
      entries = read_beside(feature_, partition.key, views[plan.other_slots(index)[k]]);
    try {
      own[k] = partition_splits(partition, entries, items);
    } catch (const Error& error) {
      fail_feature(feature_, error.message());
    }
    items = static_cast<int64_t>(own[k].size()) - 1;
  }
  for (size_t k = 0; k < own.size(); ++k) {
    const int64_t base = partitions_[k].back();
    for (size_t i = 1; i < own[k].size(); ++i) partitions_[k].push_back(base + own[k][i]);
  }
  outer_.push_back(outer_.back() + items);
}

void FeatureValues::add_indices(const ExamplePlan& plan, size_t index,
                                std::span<const FeatureView> views, int64_t values, std::byte* at) {
  const auto rank = static_cast<size_t>(feature_.dims.rank());
  const auto n = static_cast<size_t>(values);
  ChargedVector<int64_t> indices(n * rank);
  for (size_t k = 0; k < rank; ++k) {
    const std::string& key = feature_.index_keys[k];
    const auto entries = read_beside(feature_, key, views[plan.other_slots(index)[k]]);
    if (entries.size() != n) {
      fail_feature(feature_, "has " + std::to_string(n) + " values, but " +
                                 std::to_string(entries.size()) + " indices in \"" + key + "\"");
    }
    for (size_t i = 0; i < n; ++i) {
      const int64_t size = feature_.dims[static_cast<int>(k)];
      if (entries[i] < 0 || entries[i] >= size) {
        fail_feature(feature_, "has the index " + std::to_string(entries[i]) + ", outside size " +
                                   std::to_string(size));
      }
      indices[i * rank + k] = entries[i];
    }
  }
  auto of = [&](size_t i) { return std::span(indices).subspan(i * rank, rank); };
  ChargedVector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::ranges::lexicographical_compare(of(a), of(b));
  });
  const ChargedVector<std::byte> unordered(at, at + n * static_cast<size_t>(entry_bytes_));
  for (size_t i = 0; i < n; ++i) {
    if (i > 0 && std::ranges::equal(of(order[i - 1]), of(order[i])))
      fail_feature(feature_, "has the index " + std::to_string(of(order[i])[0]) + " twice");
    const auto entry = static_cast<size_t>(entry_bytes_);
    std::memcpy(at + i * entry, unordered.data() + order[i] * entry, entry);
    indices_.insert(indices_.end(), of(order[i]).begin(), of(order[i]).end());
  }
}

Tensor FeatureValues::flat(const BufferRef& records) const {
  Tensor out = Tensor::make(feature_.dtype, {values_count()});
  if (!bytes_.empty()) std::memcpy(out.mutable_data(), bytes_.data(), bytes_.size());
  share_strings(&out.mutable_buffer(), records, feature_.dtype);
  return out;
}

Tensor FeatureValues::finish_single(const BufferRef& record) {
  if (feature_.kind == Kind::sparse) return sparse(false, record);
  if (feature_.kind == Kind::fixed) return stacked(false, record);
  Tensor values = flat(record);
  const int64_t n = values_count();
  if (feature_.kind == Kind::sequence)
    return values.reshaped(feature_.dims.with_front(feature_.count == 0 ? 0 : n / feature_.count));
  if (feature_.kind == Kind::var) {
    ChargedVector<int64_t> indices(static_cast<size_t>(n));
    std::iota(indices.begin(), indices.end(), 0);
    return make_sparse(Tensor::vector<int64_t>(indices).reshaped({n, 1}), std::move(values),
                       Tensor::vector<int64_t>(ChargedVector<int64_t>{n}));
  }
  if (feature_.is_uniform()) {
    Dims dims{outer_.back()};
    for (const Partition& p : feature_.partitions) dims.push_back(p.length);
    return partitions_.empty() ? std::move(values) : values.reshaped(dims);
  }
  std::vector<Tensor> splits;
  for (const auto& partition : partitions_) splits.push_back(Tensor::vector<int64_t>(partition));
  return make_ragged(std::move(splits), std::move(values));
}

Tensor FeatureValues::finish_batch(const BufferRef& records) {
  switch (feature_.kind) {
    case Kind::sparse: return sparse(true, records);
    case Kind::var: return var_batch(records);
    case Kind::fixed: return stacked(true, records);
    case Kind::sequence: return padded(records);
    case Kind::ragged: break;
  }
  std::vector<Tensor> splits{Tensor::vector<int64_t>(partitions_.empty() ? splits_ : outer_)};
  for (const auto& partition : partitions_) splits.push_back(Tensor::vector<int64_t>(partition));
  return make_ragged(std::move(splits), flat(records));
}

Tensor FeatureValues::stacked(bool batch, const BufferRef& records) const {
  Tensor out = flat(records);
  if (feature_.has_fallback && feature_.dtype == DType::bytes)
    out.mutable_buffer().keep(feature_.fallback.buffer());
  return out.reshaped(batch ? feature_.dims.with_front(this->records()) : feature_.dims);
}

Tensor FeatureValues::padded(const BufferRef& records) const {
  int64_t longest = 0;
  for (int64_t r = 0; r < this->records(); ++r) {
    const auto i = static_cast<size_t>(r);
    longest = std::max(longest, splits_[i + 1] - splits_[i]);
  }
  const int64_t steps = feature_.count == 0 ? 0 : longest / feature_.count;
  Tensor out =
      Tensor::make(feature_.dtype, feature_.dims.with_front(steps).with_front(this->records()));
  share_strings(&out.mutable_buffer(), records, feature_.dtype);
  const ChargedVector<std::byte> zero(static_cast<size_t>(entry_bytes_));
  const std::byte* fill = feature_.has_fallback ? feature_.fallback.data() : zero.data();
  if (feature_.has_fallback && feature_.dtype == DType::bytes)
    out.mutable_buffer().keep(feature_.fallback.buffer());
  fill_entries(out.mutable_data(), fill, entry_bytes_, out.entries_count());
  for (int64_t r = 0; r < this->records(); ++r) {
    const int64_t begin = splits_[static_cast<size_t>(r)],
                  n = splits_[static_cast<size_t>(r) + 1] - begin;
    if (n > 0)
      std::memcpy(out.mutable_data() + r * longest * entry_bytes_,
                  bytes_.data() + begin * entry_bytes_, static_cast<size_t>(n * entry_bytes_));
  }
  return out;
}

Tensor FeatureValues::var_batch(const BufferRef& records) const {
  ChargedVector<int64_t> indices;
  int64_t longest = 0;
  for (int64_t r = 0; r < this->records(); ++r) {
    const int64_t n = splits_[static_cast<size_t>(r) + 1] - splits_[static_cast<size_t>(r)];
    for (int64_t i = 0; i < n; ++i) indices.insert(indices.end(), {r, i});
    longest = std::max(longest, n);
  }
  return make_sparse(Tensor::vector<int64_t>(indices).reshaped({values_count(), 2}), flat(records),
                     Tensor::vector<int64_t>(ChargedVector<int64_t>{this->records(), longest}));
}

Tensor FeatureValues::sparse(bool batch, const BufferRef& records) const {
  const auto rank = static_cast<size_t>(feature_.dims.rank());
  ChargedVector<int64_t> indices, shape(feature_.dims.sizes().begin(), feature_.dims.sizes().end());
  if (batch) shape.insert(shape.begin(), this->records());
  for (size_t r = 0; r + 1 < splits_.size(); ++r) {
    for (auto i = static_cast<size_t>(splits_[r]); i < static_cast<size_t>(splits_[r + 1]); ++i) {
      if (batch) indices.push_back(static_cast<int64_t>(r));
      indices.insert(indices.end(), indices_.begin() + static_cast<std::ptrdiff_t>(i * rank),
                     indices_.begin() + static_cast<std::ptrdiff_t>((i + 1) * rank));
    }
  }
  return make_sparse(Tensor::vector<int64_t>(indices).reshaped(
                         {values_count(), static_cast<int64_t>(shape.size())}),
                     flat(records), Tensor::vector<int64_t>(shape));
}

}  // namespace penstock
