#include "job/pipeline.h"

#include <algorithm>

#include "datasets/datasets.h"

namespace penstock {
namespace {

// Constants are computed outside of the run's own pool.
void set_constants_budget(int64_t memory_bytes) {
  process_pool().set_budget_bytes(memory_bytes > 0 ? memory_bytes : usable_memory_bytes() / 4 * 3);
}

int64_t budget_of_run(int64_t memory_bytes) {
  const int64_t constants = process_pool().used_bytes();
  constexpr int64_t kWorthCounting = 64;  // parts of the budget: messages state round numbers
  if (memory_bytes <= 0 || constants <= memory_bytes / kWorthCounting) return memory_bytes;
  return std::max<int64_t>(memory_bytes - constants, 1);
}

}  // namespace

LoadedPipeline load_pipeline(const SourcePtr& source, const PipelineChoices& choices) {
  register_datasets();
  set_constants_budget(choices.run.memory_bytes);
  LoadedPipeline out;
  out.choices = choices;
  BuildOptions options;
  options.seed = choices.seed;
  options.settings = choices.settings;
  out.built = build_plan(source, options);
  process_pool().trim();
  out.run_options = choices.run;
  out.prepare.rewrite = choices.rewrite;
  out.prepare.automatic = choices.automatic;
  out.prepare.threads = choices.run.threads > 0 ? choices.run.threads : usable_cores();
  out.prepare.disabled_rules = choices.disabled_rules;
  out.prepare.only_rule = choices.only_rule;
  check_rule_names(out.prepare);
  out.tuning.live = choices.live && choices.automatic;
  out.plan = prepare_plan(out.built.plan, out.prepare, nullptr, &out.tuning.filled);
  out.run_options.memory_bytes = budget_of_run(choices.run.memory_bytes);
  return out;
}

bool gives_value(const LoadedPipeline& pipeline) { return pipeline.built.plan->op->sink; }

}  // namespace penstock
