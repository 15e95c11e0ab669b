// The steps of one feature list over one or several SequenceExamples, made into a tensor.
#pragma once

#include <vector>

#include "data/charged.h"
#include "data/spec.h"
#include "functions/kernels/parse/example_feature.h"
#include "functions/kernels/parse/sequence_example.h"

namespace penstock {

// What the list is in the output: of one record, or of `batch` of them (-1: not known). Kinds
// sequence (dense [steps, ...]), var (sparse [steps, longest]) and ragged ([steps, ?]).
LeafSpec sequence_leaf(const ExampleFeature& feature);
LeafSpec sequence_batch_leaf(const ExampleFeature& feature, int64_t batch);

class SequenceValues {
 public:
  explicit SequenceValues(const ExampleFeature& feature);
  // The next record's list. Throws Error.
  void add(const FeatureListView& list);
  Tensor finish_single(const BufferRef& record) const;
  // Lists of fewer steps are padded with the default, or zeros.
  Tensor finish_batch(const BufferRef& records) const;
  // Steps of each record, int64.
  Tensor lengths() const;

 private:
  int64_t records() const { return static_cast<int64_t>(record_steps_.size()) - 1; }
  Tensor flat(const BufferRef& records) const;
  Tensor padded(const BufferRef& records) const;
  Tensor sparse(bool batch, const BufferRef& records) const;

  const ExampleFeature& feature_;
  ChargedVector<std::byte> bytes_;
  ChargedVector<int64_t> step_values_{0};   // values behind each step, over all records
  ChargedVector<int64_t> record_steps_{0};  // steps behind each record
};

}  // namespace penstock
