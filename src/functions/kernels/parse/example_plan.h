// Which lists a parser looks for, and how their values are read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/charged.h"
#include "functions/kernels/parse/example.h"
#include "functions/kernels/parse/example_feature.h"
#include "functions/kernels/parse/key_list.h"

namespace penstock {

class ExamplePlan {
 public:
  explicit ExamplePlan(std::vector<ExampleFeature> features);
  const std::vector<ExampleFeature>& features() const { return features_; }
  // Where in parse's result the list of feature i lies, and those of its partitions or indices.
  size_t slot(size_t i) const { return slots_[i][0]; }
  std::span<const size_t> other_slots(size_t i) const { return std::span(slots_[i]).subspan(1); }

  // The record's lists in scratch memory of this thread that lasts until the next call. Throws
  // Error for what is no Example. Of a SequenceExample: its context's.
  std::span<const FeatureView> parse(std::string_view record) const;

 private:
  std::vector<ExampleFeature> features_;
  std::vector<ChargedVector<size_t>> slots_;
  ExampleParser parser_;
};

// How many values the view holds for the feature, checked; -1: the fallback is to be taken.
int64_t checked_count(const ExampleFeature& feature, const FeatureView& view);

// Writes `count` values; strings point into the record.
void read_values(const ExampleFeature& feature, const FeatureView& view, int64_t count,
                 std::byte* out);

// A fixed feature: its values or its fallback. Strings of a fallback point into its buffer.
void read_fixed(const ExampleFeature& feature, const FeatureView& view, std::byte* out);

// A list of integers that stands beside a feature (its indices, a partition).
ChargedVector<int64_t> read_beside(const ExampleFeature& feature, const std::string& key,
                                   const FeatureView& view);

// A feature that a record does not have.
class MissingFeature final : public Error {
 public:
  explicit MissingFeature(const ExampleFeature& feature, const std::string& what);
};

// Calls f, which reads the record; a missing feature's error then lists the keys of the record
// (`field` as in record_keys).
template <typename F>
void naming_keys(std::string_view record, F&& f, int field = 1) {
  try {
    f();
  } catch (const MissingFeature& e) {
    throw Error(e.code(), e.message() + keys_there("the record", record_keys(record, field)));
  }
}

[[noreturn]] void fail_feature(const ExampleFeature& feature, const std::string& what);

}  // namespace penstock
