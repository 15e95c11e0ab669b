#include "api/job.h"

#include "api/dataset_impl.h"
#include "io/file.h"
#include "job/optimization.h"
#include "job/suggestions.h"
#include "job/traced_run.h"
#include "optimizer/optimize.h"
#include "report/json_report.h"
#include "report/text_report.h"

namespace penstock {
namespace {

job::Estimate to_estimate(const Estimate& e) { return {e.low, e.value, e.high}; }

job::Holder to_holder(Verdict::Holder holder) {
  switch (holder) {
    case Verdict::Holder::consumer: return job::Holder::consumer;
    case Verdict::Holder::stage: return job::Holder::stage;
    case Verdict::Holder::cpu: return job::Holder::cpu;
    case Verdict::Holder::other_programs: return job::Holder::other_programs;
    case Verdict::Holder::storage: return job::Holder::storage;
    case Verdict::Holder::lock: return job::Holder::lock;
    case Verdict::Holder::unclear: break;
  }
  return job::Holder::unclear;
}

job::StageStats to_stats(const StageTrace& stage) {
  job::StageStats out;
  out.name = stage.label;
  out.op = stage.op;
  out.inputs = stage.inputs;
  out.parent = stage.parent;
  out.elements = stage.elements;
  out.errors = stage.errors;
  out.blocks = stage.blocks;
  out.bytes = stage.bytes;
  out.bytes_read = stage.bytes_read;
  out.files_opened = stage.files_opened;
  out.cpu_seconds = stage.cpu_seconds;
  out.starved_seconds = stage.starved_seconds;
  out.blocked_seconds = stage.blocked_seconds;
  out.lock_seconds = stage.lock_seconds;
  out.lock_wait_seconds = stage.lock_wait_seconds;
  out.limit = stage.limit;
  return out;
}

job::StageCost to_cost(const StageModel& stage) {
  job::StageCost out;
  out.name = stage.label;
  out.visit_ratio = stage.visit_ratio;
  out.demand_seconds = stage.demand_seconds;
  out.rate_per_core = stage.rate_per_core;
  out.busy = stage.busy;
  out.starved = stage.starved;
  out.blocked = stage.blocked;
  out.sequential = stage.sequential;
  out.may_cache = stage.cache == CacheVerdict::yes;
  return out;
}

AnalyzeOptions to_options(const job::Setting& setting) {
  return {setting.disk_bytes_per_second, setting.consumer_seconds,
          setting.cores > 0 ? setting.cores : usable_cores(), setting.memory_bytes};
}

void check_gives_elements(const PlanNode& plan) {
  if (plan.op->sink)
    throw Error(Code::failed_precondition, "the pipeline ends in a value", plan.op->name);
}

}  // namespace

job::Stats job_stats(const Trace& trace) {
  job::Stats out;
  out.seconds = trace.interval.seconds;
  out.first_element_seconds = trace.interval.first_element_seconds;
  out.cpu_seconds = trace.interval.process_cpu_seconds;
  out.waited_seconds = trace.interval.waited_seconds;
  out.consumer_seconds = trace.interval.consumer_seconds;
  out.elements = trace.interval.elements;
  out.ended = trace.interval.ended;
  out.peak_memory_bytes = trace.peak_memory_bytes;
  for (const StageTrace& stage : trace.stages) out.stages.push_back(to_stats(stage));
  return out;
}

namespace job {

Trace Trace::parse(const std::string& text) {
  return Trace(std::make_shared<const penstock::Trace>(parse_trace(text, "Trace::parse")));
}

Trace Trace::read(const std::string& path) {
  return Trace(std::make_shared<const penstock::Trace>(read_trace(path)));
}

const std::string& Trace::program() const { return trace_->program; }
Stats Trace::stats() const { return job_stats(*trace_); }
std::string Trace::text() const { return trace_text(*trace_); }
void Trace::write(const std::string& path) const { write_trace(path, *trace_); }

Explanation explain(const Trace& trace, const Setting& setting) {
  const Analysis analysis = analyze(trace.internal(), to_options(setting));
  const ExplainOptions report = suggestions(analysis);
  const Verdict& verdict = analysis.verdict;
  Explanation out;
  out.verdict = verdict_line(analysis, report);
  out.input_bound = verdict.input_bound;
  out.holder = to_holder(verdict.holder);
  if (verdict.stage >= 0) out.stage = analysis.stages[static_cast<size_t>(verdict.stage)].label;
  out.rate = analysis.rate;
  out.step_seconds = verdict.step_seconds;
  out.exposed_seconds = verdict.exposed_seconds;
  out.coverage = analysis.coverage;
  out.too_short = analysis.too_short;
  for (const StageModel& stage : analysis.stages) out.stages.push_back(to_cost(stage));
  for (const penstock::Ceiling& c : analysis.ceilings) out.ceilings.push_back({c.name, c.rate});
  out.text = explain_text(analysis, report);
  out.json = explain_json(analysis, report).dump(2, ' ', false, Json::error_handler_t::replace);
  return out;
}

}  // namespace job

job::Trace Dataset::trace(const job::Limits& limits) const {
  const PlanPtr& plan = impl()->to_run();
  check_gives_elements(*plan);
  TracedRun run = traced_run(
      plan, impl()->run_options(), impl()->state(),
      {.seconds = limits.seconds, .elements = limits.elements, .tuning = impl()->tuning()});
  if (run.error) throw Error(*run.error);
  return job::Trace(std::make_shared<const Trace>(std::move(run.trace)));
}

job::Explanation Dataset::explain(const job::Limits& limits, const job::Setting& setting) const {
  return job::explain(trace(limits), setting);
}

Dataset::Optimization Dataset::optimize(const job::OptimizeOptions& options) const {
  const PlanPtr& plan = impl()->plan;
  check_gives_elements(*plan);
  const RunOptions as_run = impl()->run_options();
  PrepareOptions rules;
  rules.threads = as_run.threads > 0 ? as_run.threads : usable_cores();
  OptimizeOptions search =
      optimize_options(rules, as_run, options.setting.cores, options.setting.memory_bytes);
  search.disk_bytes_per_second = options.setting.disk_bytes_per_second;
  search.trace_seconds = options.trace_seconds;
  search.passes = options.passes;
  search.iterations = options.iterations;
  const OptimizeResult found = search_plan(plan, search, as_run);
  auto fast = std::make_shared<Impl>();
  fast->options = impl()->options;
  fast->kept.add(impl_);
  fast->plan = found.plan;
  Optimization out{Dataset(std::move(fast)),
                   to_estimate(found.prediction.rate),
                   found.prediction.first_pass,
                   found.prediction.later_passes,
                   {},
                   found.notes,
                   {}};
  for (const OptimizeResult::Change& c : found.changes) out.changes.push_back({c.what, c.rate});
  if (options.measure_seconds > 0) {
    const Comparison c =
        measure_pair({iterated(impl()->to_run(), options.iterations), impl()->tuning()},
                     {iterated(out.dataset.impl()->to_run(), options.iterations),
                      out.dataset.impl()->tuning()},
                     as_run, options.measure_seconds)
            .comparison;
    out.measured = job::Measured{c.before, c.after};
  }
  return out;
}

}  // namespace penstock
