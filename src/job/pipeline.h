// Pipelines as jobs: a text, the choices of its caller, and the plan that runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "job/live_tuner.h"
#include "optimizer/prepare.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {

struct PipelineChoices {
  uint64_t seed = 0;                            // of ops without a seed in the text
  std::map<std::string, std::string> settings;  // values of the text's params
  RunOptions run;                               // memory_bytes 0: three quarters of memory
  bool rewrite = true;
  bool automatic = true;  // values for knobs that are left to us
  bool live = false;      // ... which move while the run goes on
  std::vector<std::string> disabled_rules;
  std::string only_rule;
};

struct LoadedPipeline {
  BuiltPlan built;  // as written
  PlanPtr plan;     // as it will run
  Tuning tuning;
  RunOptions run_options;
  PrepareOptions prepare;
  PipelineChoices choices;  // as given
};

// Builds the pipeline and the plan that runs. Constants count against the memory budget: the run
// gets the rest of it. Throws PipeError for mistakes in the text, Error INVALID_ARGUMENT for
// unknown rules and settings.
LoadedPipeline load_pipeline(const SourcePtr& source, const PipelineChoices& choices);

// Returns true if the pipeline ends in a value, not in elements.
bool gives_value(const LoadedPipeline& pipeline);

}  // namespace penstock
