#include "optimizer/optimize.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "optimizer/knobs.h"

namespace penstock {

double passes_over(const PlanNode& root, const PlanNode* node) {
  double passes = 1;
  for (const PlanNode* at = &root; at != node; at = at->inputs[0].get()) {
    if (!at->op->passes_param.empty()) {
      const Attr& count = at->arg(at->op->passes_param);
      const int64_t n = count.is_none() ? -1 : count.as_int();
      if (n < 0) return -1;
      passes *= static_cast<double>(n);
    }
    if (at->inputs.empty()) break;
  }
  return passes;
}

namespace {

// The chain from the root to its source along first inputs, root first.
std::vector<PlanPtr> spine(const PlanPtr& root) {
  std::vector<PlanPtr> out{root};
  while (!out.back()->inputs.empty()) out.push_back(out.back()->inputs[0]);
  return out;
}

// `root` with the spine's node number `place` replaced.
PlanPtr replace_on_spine(const std::vector<PlanPtr>& nodes, size_t place, PlanPtr with) {
  for (size_t i = place; i-- > 0;) {
    std::vector<PlanPtr> inputs = nodes[i]->inputs;
    inputs[0] = std::move(with);
    with = with_inputs(*nodes[i], std::move(inputs));
  }
  return with;
}

Analysis analysis_of(const Trace& trace, const OptimizeOptions& options) {
  AnalyzeOptions analyze_options;
  analyze_options.cores = options.cores;
  analyze_options.disk_bytes_per_second = options.disk_bytes_per_second;
  return analyze(trace, analyze_options);
}

Spread spread_on(const Trace& trace, const OptimizeOptions& options) {
  return allocation_spread(analysis_of(trace, options), options.cores,
                           options.disk_bytes_per_second);
}

Spread serial_spread(const Trace& trace) {
  return Resamples(trace).spread(
      [](const SliceSums& s) { return s.seconds > 0 ? s.elements / s.seconds : 0; });
}

// Spread of the rate over `passes` from those of the first and the later ones, by their times.
Spread passes_spread(double passes, double first, const Spread& first_spread, double later,
                     const Spread& later_spread) {
  if (first_spread.size() != later_spread.size() || first <= 0 || later <= 0) return {};
  const double whole = 1 / first + (passes - 1) / later;
  Spread out;
  for (size_t i = 0; i < first_spread.size(); ++i) {
    // The draws of the two traces have the same seed: reversed, they are not drawn alike.
    const double other = later_spread[later_spread.size() - 1 - i];
    out.push_back(whole / (1 / (first * first_spread[i]) + (passes - 1) / (later * other)));
  }
  return out;
}

// Rate on `cores` from a one-thread trace: the model's allocation, with the CPU time that belongs
// to no stage (reading, hand-overs) as work that any core may do.
double rate_on(const Trace& trace, const OptimizeOptions& options) {
  const Analysis a = analysis_of(trace, options);
  std::vector<StageDemand> stages;
  for (const StageModel& s : a.stages) stages.push_back({s.rate_per_core, s.sequential});
  const double n = static_cast<double>(std::max<int64_t>(1, trace.interval.elements));
  if (a.unattributed_cpu_seconds > 0) stages.push_back({n / a.unattributed_cpu_seconds, false});
  double rate = allocation_rate(stages, static_cast<double>(options.cores));
  for (const Ceiling& c : a.ceilings) {
    if (c.kind == Ceiling::Kind::disk) rate = std::min(rate, c.rate);
  }
  return rate;
}

double serial_rate(const Trace& trace) {
  return trace.interval.seconds > 0
             ? static_cast<double>(trace.interval.elements) / trace.interval.seconds
             : 0;
}

struct CachePlace {
  size_t place = 0;  // on the spine
  StageSize size;
  double cost_seconds = 0;  // CPU of all passes, per root element of one pass
  std::string label;
};

// Stage of each spine node in the trace of the plan as written.
std::vector<int> spine_stages(const Trace& trace, size_t length) {
  std::vector<int> out;
  int at = 0;
  while (out.size() < length && at >= 0 && static_cast<size_t>(at) < trace.stages.size()) {
    out.push_back(at);
    at = trace.stages[static_cast<size_t>(at)].inputs.empty()
             ? -1
             : trace.stages[static_cast<size_t>(at)].inputs[0];
  }
  return out;
}

// Whether a cache may stand behind the node; why not goes to `notes`.
bool may_cache(const PlanNode& node, const StageModel& stage, const OptimizeOptions& options,
               std::vector<std::string>* notes) {
  auto no = [&](const std::string& why) {
    notes->push_back("no cache after " + stage.label + ": " + why);
    return false;
  };
  if (plan_effects(node) != Effects::pure) return no("what it gives is random");
  if (node.cardinality == kInfinite || stage.size.extent == Extent::infinite)
    return no("it is endless");
  if (stage.size.extent == Extent::unknown) return no("its size is not known");
  if (stage.size.bytes.high > 0.6 * static_cast<double>(options.memory_bytes))
    return no("larger than the memory budget");
  return true;
}

// The places that would pay by the demands as written, the best first. Rewrites change what stages
// cost, so the first few are to be traced.
std::vector<CachePlace> cache_places(const PlanPtr& root, const std::vector<PlanPtr>& nodes,
                                     const Analysis& a, const OptimizeOptions& options,
                                     std::vector<std::string>* notes) {
  const std::vector<int> stages = spine_stages(a.trace, nodes.size());
  if (stages.size() != nodes.size()) return {};
  std::vector<CachePlace> places;
  double above = 0;  // demand of the stages between the root and the node
  double whole = 0;
  for (const int s : stages) whole += a.stages[static_cast<size_t>(s)].demand_seconds;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const StageModel& stage = a.stages[static_cast<size_t>(stages[i])];
    double passes = passes_over(*root, nodes[i].get());
    if (passes < 0) passes = options.passes;
    // After these a cache would hold what they hold, or what their input gives as well.
    const OperatorDef& op = *nodes[i]->op;
    const bool worth = passes > 1 && op.passes_param.empty() && !op.caches && !op.reads_ahead &&
                       !nodes[i]->inputs.empty();
    if (worth && may_cache(*nodes[i], stage, options, notes)) {
      const double cost = whole + (passes - 1) * above;
      if (cost < 0.95 * passes * whole) places.push_back({i, stage.size, cost, stage.label});
    }
    above += stage.demand_seconds;
  }
  std::ranges::stable_sort(places, {}, &CachePlace::cost_seconds);
  return places;
}

// The cached plan cut down so that its cache is full after a moment, then repeated: what later
// passes cost. `skip` is the number of root elements until then.
PlanPtr warm_plan(const std::vector<PlanPtr>& nodes, const CachePlace& cache, double visit_ratio,
                  int64_t* skip) {
  const double per_root = std::max(1.0, visit_ratio);
  const auto rows = static_cast<int64_t>(std::ceil(std::max(4 * per_root, 64.0)));
  Attrs count;
  count.set("count", Attr::integer(rows));
  PlanPtr cached = make_node("cache", {make_node("take", {nodes[cache.place]}, count)}, {});
  std::vector<PlanPtr> endless = nodes;
  for (PlanPtr& node : endless) {
    const std::string& passes = node->op->passes_param;
    if (!passes.empty()) node = with_arg(*node, passes, Attr());
  }
  PlanPtr plan = replace_on_spine(endless, cache.place, std::move(cached));
  *skip = static_cast<int64_t>(std::ceil(static_cast<double>(rows) / per_root)) + 1;
  return plan;
}

// `plan` without the passes above its highest cache but the first, which fills that: a trace of it
// says what filling costs, however long it is.
PlanPtr first_pass_of(const PlanPtr& plan) {
  std::vector<PlanPtr> nodes = spine(plan);
  for (PlanPtr& node : nodes) {
    if (node->op->caches) break;
    if (!node->op->passes_param.empty())
      node = with_arg(*node, node->op->passes_param, Attr::integer(1));
  }
  return replace_on_spine(nodes, nodes.size() - 1, nodes.back());
}

}  // namespace

OptimizeResult optimize_plan(const PlanPtr& plan, const OptimizeOptions& options,
                             const MeasurePlan& measure) {
  OptimizeResult out;
  out.before = measure(plan, options.trace_seconds, 0);
  out.rate_before = serial_rate(out.before);
  if (out.before.interval.elements == 0 && !out.before.interval.ended) {
    out.plan = plan;
    out.notes.emplace_back(
        "no element came in the time of a trace, so that nothing can be said about rates: the plan "
        "stays as it is; give more with --trace-seconds");
    return out;
  }
  const PlanPtr bare = strip_knobs(plan);
  const Trace traced = measure(bare, options.trace_seconds, 0);
  const Analysis analysis =
      analyze(traced, {options.disk_bytes_per_second, 0, options.cores, options.memory_bytes});
  const std::vector<PlanPtr> nodes = spine(bare);

  // Without a cache.
  std::vector<RuleLog> rules;
  const PlanPtr rewritten = apply_rules(bare, options.rules, &rules);
  const Trace rewritten_trace = measure(rewritten, options.trace_seconds, 0);
  const double rewritten_rate = rate_on(rewritten_trace, options);
  Spread spread = spread_on(rewritten_trace, options);
  Spread one_thread_spread = serial_spread(rewritten_trace);
  PlanPtr chosen = rewritten;
  Trace chosen_trace = rewritten_trace;
  out.prediction.first_pass = out.prediction.later_passes = rewritten_rate;
  double rate = rewritten_rate, serial = serial_rate(rewritten_trace);
  out.rules = rules;

  constexpr size_t kMostTraced = 3;
  std::vector<CachePlace> places = cache_places(bare, nodes, analysis, options, &out.notes);
  if (places.size() > kMostTraced) places.resize(kMostTraced);
  for (const CachePlace& cache : places) {
    double passes = passes_over(*bare, nodes[cache.place].get());
    if (passes < 0) passes = options.passes;
    std::vector<RuleLog> cached_rules;
    const PlanPtr with_cache =
        replace_on_spine(nodes, cache.place, make_node("cache", {nodes[cache.place]}, {}));
    const PlanPtr cached = apply_rules(with_cache, options.rules, &cached_rules);
    const Trace cold = measure(first_pass_of(cached), options.trace_seconds, 0);
    int64_t skip = 0;
    const std::vector<int> stages = spine_stages(traced, nodes.size());
    const double ratio = analysis.stages[static_cast<size_t>(stages[cache.place])].visit_ratio;
    const PlanPtr warm = apply_rules(warm_plan(nodes, cache, ratio, &skip), options.rules, nullptr);
    const Trace full = measure(warm, options.trace_seconds, skip);
    const double first = rate_on(cold, options), later = rate_on(full, options);
    const double overall = first > 0 && later > 0 ? passes / (1 / first + (passes - 1) / later) : 0;
    out.passes = passes;
    if (overall < 1.02 * rate) {
      out.notes.push_back("a cache after " + cache.label + " would give " +
                          std::to_string(static_cast<int64_t>(100 * overall / rate)) +
                          " % of the rate of the plan chosen");
      continue;
    }
    const double serial_cold = serial_rate(cold), serial_warm = serial_rate(full);
    if (serial_cold > 0 && serial_warm > 0)
      serial = passes / (1 / serial_cold + (passes - 1) / serial_warm);
    chosen = cached;
    chosen_trace = cold;
    rate = overall;
    spread =
        passes_spread(passes, first, spread_on(cold, options), later, spread_on(full, options));
    one_thread_spread =
        passes_spread(passes, serial_cold, serial_spread(cold), serial_warm, serial_spread(full));
    out.prediction.first_pass = first;
    out.prediction.later_passes = later;
    out.rules = cached_rules;
    out.changes = {{"cache() after " + cache.label + ": " +
                        std::to_string(static_cast<int64_t>(cache.size.bytes.value / 1e6)) +
                        " MB, made once, read " + std::to_string(static_cast<int64_t>(passes) - 1) +
                        " times more",
                    serial}};
  }
  std::vector<std::string> names;
  for (const RuleLog& log : out.rules) {
    if (std::ranges::find(names, log.rule) == names.end()) names.emplace_back(log.rule);
  }
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
  if (!joined.empty())
    out.changes.insert(
        out.changes.begin(),
        {"rewrites: " + joined, out.changes.empty() ? serial : serial_rate(rewritten_trace)});
  out.plan = write_knobs(chosen,
                         analyze(chosen_trace, {options.disk_bytes_per_second, 0, options.cores,
                                                options.memory_bytes}),
                         options.cores);
  if (out.plan == chosen) {
    rate = serial;
    spread = one_thread_spread;
    if (chosen == rewritten) out.prediction.first_pass = out.prediction.later_passes = rate;
    out.notes.emplace_back("one thread: no function costs enough to hand its rows to others");
  } else {
    out.changes.push_back({"num_parallel_calls and a prefetch at the end for " +
                               std::to_string(options.cores) + " cores",
                           rate});
  }
  out.prediction.rate = with_spread(rate, std::move(spread));
  return out;
}

}  // namespace penstock
