#include "cli/traced_input.h"

#include "cli/measure.h"
#include "cli/pipeline.h"

namespace penstock::cli {
namespace {

// Returns how long to wait for the first element: a stage that draws from a window (shuffle) must
// fill it before.
double first_seconds(const PlanNode& plan, double seconds) {
  constexpr double kFillFactor = 10;
  for (const PlanNode* node : topological(plan)) {
    if (node->op->source || node->op->reads_ahead) continue;
    for (const Param& p : node->op->params) {
      if (p.name == "buffer_size") return kFillFactor * seconds;
    }
  }
  return seconds;
}

}  // namespace

TracedInput traced_input(const Args& args, double seconds) {
  const std::string path = pipe_argument(args);
  // Loading the pipeline reads standard input.
  const std::string text = path == "-" ? std::string() : read_text(path);
  if (looks_like_trace(text)) return {read_trace(text, path), 0};
  const LoadedPipeline p = load_pipeline(args);
  if (gives_value(p)) throw UsageError{"the pipeline ends in a value; give one of elements"};
  const TracedRun run = measured_run(
      p.plan, p.run_options,
      {.seconds = seconds, .first_seconds = first_seconds(*p.plan, seconds), .tuning = p.tuning});
  if (run.error) throw *run.error;
  return {run.trace, p.run_options.throttle.bytes_per_second};
}

}  // namespace penstock::cli
