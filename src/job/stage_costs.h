// CPU time of the stages of two pipelines side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace penstock {

// Seconds of CPU per element of the root; nullopt where the pipeline has no such stage.
struct StageCost {
  std::string stage;  // label, as `explain` prints it
  std::optional<double> a, b;
  double difference() const { return b.value_or(0) - a.value_or(0); }
};

// Pairs stages with equal labels, each once, in the order of the plans. Sorts by the size of the
// difference, the largest first.
std::vector<StageCost> stage_costs(const Trace& a, const Trace& b);

}  // namespace penstock
