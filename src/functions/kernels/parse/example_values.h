// The values of one feature over one or several records, made into a tensor of its kind.
#pragma once

#include <span>
#include <vector>

#include "data/charged.h"
#include "data/spec.h"
#include "functions/kernels/parse/example_plan.h"

namespace penstock {

// What the feature is in the output: of one record, or of `batch` records (-1: not known).
LeafSpec feature_leaf(const ExampleFeature& feature);
LeafSpec feature_batch_leaf(const ExampleFeature& feature, int64_t batch);

// Collects records, in order; finish gives one tensor.
class FeatureValues {
 public:
  explicit FeatureValues(const ExampleFeature& feature);
  // The lists of the next record. Throws Error, and then forgets them.
  void add(const ExamplePlan& plan, size_t index, std::span<const FeatureView> views);
  // One record's, without an axis of records.
  Tensor finish_single(const BufferRef& record);
  // All records', stacked: lists padded to the longest, sparse and ragged with an axis in front.
  Tensor finish_batch(const BufferRef& records);

 private:
  int64_t records() const { return static_cast<int64_t>(splits_.size()) - 1; }
  int64_t values_count() const { return splits_.back(); }
  void add_partitions(const ExamplePlan& plan, size_t index, std::span<const FeatureView> views,
                      int64_t values);
  void add_indices(const ExamplePlan& plan, size_t index, std::span<const FeatureView> views,
                   int64_t values, std::byte* at);
  Tensor flat(const BufferRef& records) const;
  Tensor padded(const BufferRef& records) const;
  Tensor stacked(bool batch, const BufferRef& records) const;
  Tensor var_batch(const BufferRef& records) const;
  Tensor sparse(bool batch, const BufferRef& records) const;

  const ExampleFeature& feature_;
  int64_t entry_bytes_;
  ChargedVector<std::byte> bytes_;
  ChargedVector<int64_t> splits_{0};                // values behind each record
  std::vector<ChargedVector<int64_t>> partitions_;  // splits of each, over all records
  ChargedVector<int64_t> outer_{0};                 // ragged: items of the outermost axis
  ChargedVector<int64_t> indices_;                  // sparse: rank entries a value
};

}  // namespace penstock
