// What parse_example is to take out of a record, worked out once from its `features`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/tensor.h"
#include "functions/attr.h"
#include "functions/kernels/parse/example.h"

namespace penstock {

struct ExampleFeature {
  std::string key;
  DType dtype = DType::int64;  // int64, float32 or bytes
  bool sequence = false;       // [?, ...dims], empty when absent; else exactly dims
  Dims dims;
  int64_t count = 1;  // values that dims hold
  bool has_fallback = false;
  Tensor fallback;  // of this dtype and dims
};

// The features in their order; throws TypeError (attribute "features").
std::vector<ExampleFeature> read_features(const Attr& features);

class ExamplePlan {
 public:
  explicit ExamplePlan(std::vector<ExampleFeature> features);
  const std::vector<ExampleFeature>& features() const { return features_; }

  // The record's lists, one for each feature, in scratch memory of this thread that lasts until the
  // next call. Throws Error for what is no Example.
  std::span<const FeatureView> parse(std::string_view record) const;

 private:
  std::vector<ExampleFeature> features_;
  ExampleParser parser_;
};

// How many values the view holds for the feature, checked; -1: the fallback is to be taken.
int64_t checked_count(const ExampleFeature& feature, const FeatureView& view);

// Writes `count` values; strings point into the record.
void read_values(const ExampleFeature& feature, const FeatureView& view, int64_t count,
                 std::byte* out);

// A fixed feature: its values or its fallback. Strings of a fallback point into its buffer.
void read_fixed(const ExampleFeature& feature, const FeatureView& view, std::byte* out);

}  // namespace penstock
