#include "job/optimization.h"

#include <algorithm>

namespace penstock {
namespace {

TracedRun whole_run(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits,
                    const RunTraced& run) {
  TracedRun out = run(plan, options, limits);
  if (out.error) throw Error(*out.error);
  if (out.trace.interval.interrupted) throw Error(Code::cancelled, "cancelled");
  return out;
}

int64_t caches_of(const PlanNode& root) {
  int64_t out = 0;
  for (const PlanNode* node : topological(root)) out += node->op->caches;
  return out;
}

// Returns true if the elements depend on the plan and its seeds alone.
bool is_reproducible(const PlanNode& root) {
  for (const PlanNode* node : topological(root)) {
    for (const Param& p : node->op->params) {
      const Attr& value = node->arg(p.name);
      if (p.name == "deterministic" && !value.is_none() && !value.as_bool()) return false;
    }
  }
  return plan_effects(root) != Effects::stateful;
}

bool repeats(const PlanNode& root) {
  return std::ranges::any_of(topological(root),
                             [](const PlanNode* node) { return !node->op->passes_param.empty(); });
}

// Takes the repeat of iterated() out again; a prefetch may stand above it.
PlanPtr one_iteration(const PlanPtr& plan) {
  std::vector<PlanPtr> above;
  PlanPtr at = plan;
  for (; at->op->passes_param.empty(); at = at->inputs[0]) above.push_back(at);
  at = at->inputs[0];
  for (; !above.empty(); above.pop_back()) at = with_inputs(*above.back(), {std::move(at)});
  return at;
}

bool same_first_elements(const TunedPlan& a, const TunedPlan& b, int64_t elements,
                         const RunOptions& as_run, const RunTraced& run) {
  StreamDigest first(a.plan->spec), second(b.plan->spec);
  whole_run(a.plan, as_run, {.elements = elements, .digest = &first, .tuning = a.tuning}, run);
  whole_run(b.plan, as_run, {.elements = elements, .digest = &second, .tuning = b.tuning}, run);
  return first.elements() == second.elements() && first.ordered() == second.ordered();
}

}  // namespace

TracedRun run_alone(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits) {
  return traced_run(plan, options, std::make_shared<PipelineState>(), limits);
}

OptimizeOptions optimize_options(const PrepareOptions& rules, const RunOptions& run, int cores,
                                 int64_t memory_bytes) {
  OptimizeOptions out;
  out.rules = rules;
  out.cores = cores > 0 ? cores : rules.threads;
  out.memory_bytes = memory_bytes > 0       ? memory_bytes
                     : run.memory_bytes > 0 ? run.memory_bytes
                                            : usable_memory_bytes() / 4 * 3;
  return out;
}

OptimizeResult search_plan(const PlanPtr& written, const OptimizeOptions& search,
                           const RunOptions& as_run, const RunTraced& run) {
  RunOptions one_thread = as_run;
  one_thread.threads = 1;
  const PlanPtr whole = iterated(written, search.iterations);
  OptimizeResult out =
      optimize_plan(whole, search, [&](const PlanPtr& plan, double seconds, int64_t skip) {
        return whole_run(plan, one_thread, {.seconds = seconds, .skip = skip}, run).trace;
      });
  if (whole != written) out.plan = one_iteration(out.plan);
  return out;
}

PlanPtr iterated(const PlanPtr& plan, int64_t iterations) {
  if (iterations < 2 || plan->cardinality == kInfinite || repeats(*plan)) return plan;
  Attrs count;
  count.set("count", Attr::integer(iterations));
  return make_node("repeat", {plan}, std::move(count));
}

MeasuredPlan measure_plan(const TunedPlan& plan, const RunOptions& as_run, double seconds,
                          const RunTraced& run) {
  MeasuredPlan out;
  out.trace = whole_run(plan.plan, as_run, {.seconds = seconds, .tuning = plan.tuning}, run).trace;
  const TraceInterval& t = out.trace.interval;
  out.elements = t.elements;
  out.rate = t.seconds > 0 ? static_cast<double>(t.elements) / t.seconds : 0;
  return out;
}

MeasuredPair measure_in_turn(const TunedPlan& before, const TunedPlan& after,
                             const RunOptions& as_run, double seconds, const RunTraced& run) {
  MeasuredPair out;
  const SampleRate sample = [&](bool second, double limit) {
    MeasuredPlan measured = measure_plan(second ? after : before, as_run, limit, run);
    const RateSample rate{static_cast<double>(measured.elements), measured.trace.interval.seconds};
    (second ? out.after : out.before) = std::move(measured);
    return rate;
  };
  out.once = caches_of(*after.plan) > caches_of(*before.plan);
  out.comparison = out.once ? compare_once(sample, seconds) : compare_rates(sample, seconds);
  constexpr double kSeconds = 0.5, kMostElements = 1e6;
  const double rate = std::min(out.comparison.before, out.comparison.after);
  if (is_reproducible(*before.plan) && is_reproducible(*after.plan)) {
    const double elements = std::clamp(kSeconds * rate, 1.0, kMostElements);
    out.same_elements =
        same_first_elements(before, after, static_cast<int64_t>(elements), as_run, run);
  }
  return out;
}

MeasuredPair measure_pair(const TunedPlan& now, const TunedPlan& found, const RunOptions& as_run,
                          double seconds, const RunTraced& run) {
  MeasuredPair out = measure_in_turn(now, found, as_run, seconds, run);
  if (out.same_elements == false)
    throw Error(Code::internal,
                "the elements of the new plan are not those of the old one: please report it");
  return out;
}

}  // namespace penstock
