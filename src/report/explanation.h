// What the reports show besides the analysis.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model.h"

namespace penstock {

// A knob or rewrite in words, and what it is predicted to bring.
struct PlannedChange {
  std::string change;  // "map 2: num_parallel_calls 1 -> 2"
  std::string gain;    // "1.85x, 780/s (740 to 810)"
};

struct ExplainOptions {
  std::vector<PlannedChange> plan;         // the most valuable first
  std::optional<Estimate> predicted_rate;  // after all of the plan
};

// The verdict in one sentence, what the best change brings included.
std::string verdict_line(const Analysis& analysis, const ExplainOptions& options);
// True when the input keeps up with its consumer and nothing needs to be done.
bool nothing_wrong(const Analysis& analysis);

}  // namespace penstock
