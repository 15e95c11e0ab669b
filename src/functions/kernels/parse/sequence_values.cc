#include "functions/kernels/parse/sequence_values.h"

#include <algorithm>
#include <cstring>

#include "data/charged.h"
#include "data/ragged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/example_plan.h"

namespace penstock {

using Kind = ExampleFeature::Kind;

LeafSpec sequence_leaf(const ExampleFeature& feature) {
  const Shape steps{Shape::kUnknown, Shape::kUnknown};
  if (feature.kind == Kind::var) return sparse_leaf(feature.dtype, steps);
  if (feature.kind == Kind::ragged) return ragged_leaf(feature.dtype, steps, 1);
  return LeafSpec::tensor(feature.dtype, Shape(feature.dims).with_front(Shape::kUnknown));
}

LeafSpec sequence_batch_leaf(const ExampleFeature& feature, int64_t batch) {
  LeafSpec leaf = sequence_leaf(feature);
  leaf.shape = leaf.shape.with_front(batch);
  leaf.ragged_rank += leaf.kind == LeafSpec::Kind::ragged;
  return leaf;
}

SequenceValues::SequenceValues(const ExampleFeature& feature) : feature_(feature) {}

void SequenceValues::add(const FeatureListView& list) {
  if (!list.present && !feature_.allow_missing && feature_.kind == Kind::sequence)
    throw MissingFeature(feature_, "is missing");
  for (const FeatureView& step : list.steps) {
    const int64_t count = checked_count(feature_, step);
    if (feature_.kind == Kind::sequence && count != feature_.count) {
      fail_feature(feature_, "holds " + std::to_string(count) + " values at step " +
                                 std::to_string(&step - list.steps.data()) + ", expected shape " +
                                 feature_.dims.text());
    }
    const size_t before = bytes_.size();
    bytes_.resize(before + static_cast<size_t>(count * dtype_size(feature_.dtype)));
    read_values(feature_, step, count, bytes_.data() + before);
    step_values_.push_back(step_values_.back() + count);
  }
  record_steps_.push_back(static_cast<int64_t>(step_values_.size()) - 1);
}

Tensor SequenceValues::flat(const BufferRef& records) const {
  Tensor out = Tensor::make(feature_.dtype, {step_values_.back()});
  if (!bytes_.empty()) std::memcpy(out.mutable_data(), bytes_.data(), bytes_.size());
  share_strings(&out.mutable_buffer(), records, feature_.dtype);
  return out;
}

Tensor SequenceValues::lengths() const {
  ChargedVector<int64_t> out;
  for (size_t r = 1; r < record_steps_.size(); ++r)
    out.push_back(record_steps_[r] - record_steps_[r - 1]);
  return Tensor::vector<int64_t>(out);
}

Tensor SequenceValues::finish_single(const BufferRef& record) const {
  if (feature_.kind == Kind::var) return sparse(false, record);
  Tensor values = flat(record);
  if (feature_.kind == Kind::ragged)
    return make_ragged({Tensor::vector<int64_t>(step_values_)}, std::move(values));
  return values.reshaped(feature_.dims.with_front(record_steps_.back()));
}

Tensor SequenceValues::finish_batch(const BufferRef& records) const {
  if (feature_.kind == Kind::var) return sparse(true, records);
  if (feature_.kind == Kind::sequence) return padded(records);
  return make_ragged(
      {Tensor::vector<int64_t>(record_steps_), Tensor::vector<int64_t>(step_values_)},
      flat(records));
}

Tensor SequenceValues::padded(const BufferRef& records) const {
  const int64_t entry = dtype_size(feature_.dtype);
  const Tensor lengths_of = lengths();
  int64_t longest = 0;
  for (int64_t r = 0; r < this->records(); ++r)
    longest = std::max(longest, lengths_of.entry<int64_t>(r));
  Tensor out =
      Tensor::make(feature_.dtype, feature_.dims.with_front(longest).with_front(this->records()));
  share_strings(&out.mutable_buffer(), records, feature_.dtype);
  if (feature_.has_fallback && feature_.dtype == DType::bytes)
    out.mutable_buffer().keep(feature_.fallback.buffer());
  const ChargedVector<std::byte> zero(static_cast<size_t>(entry));
  fill_entries(out.mutable_data(), feature_.has_fallback ? feature_.fallback.data() : zero.data(),
               entry, out.entries_count());
  const int64_t step = feature_.count * entry;
  for (int64_t r = 0; r < this->records(); ++r) {
    const int64_t n = lengths_of.entry<int64_t>(r) * step;
    if (n > 0)
      std::memcpy(out.mutable_data() + r * longest * step,
                  bytes_.data() + record_steps_[static_cast<size_t>(r)] * step,
                  static_cast<size_t>(n));
  }
  return out;
}

Tensor SequenceValues::sparse(bool batch, const BufferRef& records) const {
  ChargedVector<int64_t> indices;
  int64_t steps = 0, longest = 0;
  for (size_t r = 0; r + 1 < record_steps_.size(); ++r) {
    const int64_t first = record_steps_[r], n = record_steps_[r + 1] - first;
    steps = std::max(steps, n);
    for (int64_t s = 0; s < n; ++s) {
      const auto at = static_cast<size_t>(first + s);
      const int64_t values = step_values_[at + 1] - step_values_[at];
      longest = std::max(longest, values);
      for (int64_t i = 0; i < values; ++i) {
        if (batch) indices.push_back(static_cast<int64_t>(r));
        indices.insert(indices.end(), {s, i});
      }
    }
  }
  ChargedVector<int64_t> shape{steps, longest};
  if (batch) shape.insert(shape.begin(), this->records());
  return make_sparse(Tensor::vector<int64_t>(indices).reshaped(
                         {step_values_.back(), static_cast<int64_t>(shape.size())}),
                     flat(records), Tensor::vector<int64_t>(shape));
}

}  // namespace penstock
