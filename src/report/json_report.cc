#include "report/json_report.h"

#include <cmath>

namespace penstock {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json estimate_json(const Estimate& e) {
  const Json low = e.has_interval() ? number(e.low) : Json();
  return {{"low", low}, {"value", number(e.value)}, {"high", number(e.high)}};
}

Json optional_number(const std::optional<double>& n) { return n ? number(*n) : Json(); }

Json id_or_null(int id) { return id >= 0 ? Json(id) : Json(); }

Json size_json(const StageSize& size) {
  Json out{{"extent", extent_name(size.extent)}};
  const bool counted = size.extent == Extent::exact || size.extent == Extent::estimated;
  out["elements"] = counted ? estimate_json(size.elements) : Json();
  out["bytes"] = counted ? estimate_json(size.bytes) : Json();
  return out;
}

Json stage_json(const StageModel& s) {
  return {{"id", s.id},
          {"op", s.op},
          {"label", s.label},
          {"parent", id_or_null(s.parent)},
          {"rate", number(s.rate)},
          {"rate_per_core", number(s.own_rate_per_core)},
          {"visit_ratio", number(s.visit_ratio)},
          {"demand_seconds", number(s.demand_seconds)},
          {"root_rate_per_core", number(s.rate_per_core)},
          {"cores_used", number(s.cores_used)},
          {"busy", number(s.busy)},
          {"starved", number(s.starved)},
          {"blocked", number(s.blocked)},
          {"bytes_in", number(s.bytes_in)},
          {"bytes_out", number(s.bytes_out)},
          {"bytes_per_element", number(s.bytes_per_element)},
          {"size", size_json(s.size)},
          {"cacheable", s.cache == CacheVerdict::yes},
          {"cache", cache_verdict_name(s.cache)},
          {"cache_reason", cache_verdict_text(s.cache)},
          {"sequential", s.sequential},
          {"threads", s.limit},
          {"thread_group", s.thread}};
}

Json verdict_json(const Analysis& a, const ExplainOptions& options) {
  const Verdict& v = a.verdict;
  Json causes = Json::array();
  for (const Cause& c : v.causes) {
    causes.push_back({{"cause", holder_name(c.holder)},
                      {"state", cause_state_name(c.state)},
                      {"why", c.why},
                      {"stage", id_or_null(c.stage)}});
  }
  return {{"text", verdict_line(a, options)},
          {"input_bound", v.input_bound},
          {"holder", holder_name(v.holder)},
          {"stage", id_or_null(v.stage)},
          {"step_seconds", number(v.step_seconds)},
          {"exposed_seconds", number(v.exposed_seconds)},
          {"reason", v.reason},
          {"causes", std::move(causes)}};
}

Json groups_json(const Analysis& a) {
  Json out = Json::array();
  for (const ThreadModel& t : a.threads) {
    out.push_back({{"stages", t.stages},
                   {"threads", number(t.width)},
                   {"demand_seconds", number(t.demand_seconds)},
                   {"utilisation", number(t.utilisation)},
                   {"heaviest", t.heaviest}});
  }
  return out;
}

Json ceilings_json(const Analysis& a) {
  Json out = Json::array();
  for (const Ceiling& c : a.ceilings) {
    out.push_back({{"kind", ceiling_kind_name(c.kind)},
                   {"rate", number(c.rate)},
                   {"name", c.name},
                   {"stage", id_or_null(c.stage)},
                   {"thread_group", id_or_null(c.thread)}});
  }
  return out;
}

Json waits_json(const Analysis& a) {
  const Waits& w = a.waits;
  return {{"descheduled_seconds", optional_number(w.descheduled_seconds)},
          {"descheduled_share", w.descheduled_seconds ? number(w.descheduled_share) : Json()},
          {"storage_seconds", optional_number(w.storage_seconds)},
          {"process_cores", number(w.process_cores)},
          {"other_cores", optional_number(w.other_cores)}};
}

Json plan_json(const ExplainOptions& options) {
  Json out = Json::array();
  for (const PlannedChange& c : options.plan)
    out.push_back({{"change", c.change}, {"gain", c.gain}});
  return out;
}

}  // namespace

Json explain_json(const Analysis& a, const ExplainOptions& options) {
  Json stages = Json::array();
  for (const StageModel& s : a.stages) stages.push_back(stage_json(s));
  const TraceInterval& i = a.trace.interval;
  Json out{{"schema", "penstock.explain"}, {"version", 1}};
  out["verdict"] = verdict_json(a, options);
  out["rate"] = number(a.rate);
  out["measured_rate"] = estimate_json(a.measured);
  out["cores"] = a.cores;
  out["cores_used"] = number(a.cores_used);
  out["memory_bytes"] = a.memory_bytes;
  out["peak_memory_bytes"] = a.trace.peak_memory_bytes;
  out["stages"] = std::move(stages);
  out["thread_groups"] = groups_json(a);
  out["ceilings"] = ceilings_json(a);
  out["waits"] = waits_json(a);
  out["allocation"] = {{"rate", number(a.best.rate)},
                       {"cores", a.best.cores},
                       {"binding_stage", id_or_null(a.best.binding)},
                       {"core_price", number(a.best.core_price)}};
  out["plan"] = plan_json(options);
  if (a.trace.decisions) out["decisions"] = trace_decisions_json(a.trace);
  out["predicted_rate"] = options.predicted_rate ? estimate_json(*options.predicted_rate) : Json();
  out["trust"] = {{"seconds", number(i.seconds)},
                  {"elements", i.elements},
                  {"fill_seconds", number(a.fill_seconds)},
                  {"coverage", a.coverage > 0 ? number(a.coverage) : Json()},
                  {"slices", a.slices},
                  {"process_cpu_seconds", number(i.process_cpu_seconds)},
                  {"attributed_cpu_seconds", number(a.attributed_cpu_seconds)},
                  {"unattributed_cpu_seconds", number(a.unattributed_cpu_seconds)},
                  {"tracing_overhead", number(a.tracing_overhead)},
                  {"ended", i.ended},
                  {"interrupted", i.interrupted},
                  {"too_short", a.too_short}};
  out["program"] = a.trace.program;
  return out;
}

}  // namespace penstock
