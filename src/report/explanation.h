// Contents of the reports in addition to the analysis.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model.h"

namespace penstock {

// A knob or rewrite in words, and its predicted gain.
struct PlannedChange {
  std::string change;  // "map 2: num_parallel_calls 1 -> 2"
  std::string gain;    // "1.85x, 780/s (740 to 810)"
};

struct ExplainOptions {
  std::vector<PlannedChange> plan;         // the most valuable first
  std::optional<Estimate> predicted_rate;  // after all changes of the plan
};

// Returns the verdict in one sentence, with the gain of the best change.
std::string verdict_line(const Analysis& analysis, const ExplainOptions& options);
// Returns true if the input keeps up with its consumer and nothing needs to change.
bool nothing_wrong(const Analysis& analysis);

}  // namespace penstock
