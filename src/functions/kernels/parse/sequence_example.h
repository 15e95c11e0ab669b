// Reads the feature lists of a tf.train.SequenceExample, without copying them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/parse/example.h"

namespace penstock {

// One list: a Feature for each step.
struct FeatureListView {
  bool present = false;
  ChargedVector<FeatureView> steps;
};

// The last of repeated keys counts; unknown fields are skipped. Throws INVALID_ARGUMENT.
// out[i] is the list called keys[i].
void parse_feature_lists(std::string_view record, std::span<const std::string> keys,
                         std::span<FeatureListView> out);

}  // namespace penstock
