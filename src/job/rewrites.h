// The static rules applied to a pipeline, and the conditions that keep them from more.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "job/pipeline.h"

namespace penstock {

struct Rewrite {
  std::string_view rule;
  std::string_view doc;          // of the rule; where it was stopped: what would have to hold
  std::string stage;             // "map"
  std::string place;             // "train.pipe:3:5"; empty for a stage that is in no text
  std::string_view condition{};  // that stopped the rule; empty: it was applied
};

struct Rewrites {
  std::vector<Rewrite> applied;  // in the order in which they were, each place once
  std::vector<Rewrite> stopped;  // from the pipeline's end down
  std::string program;           // canonical text of the plan that runs
};

// Applies the pipeline's rules anew, without running it.
Rewrites rewrites_of(const LoadedPipeline& pipeline);

}  // namespace penstock
