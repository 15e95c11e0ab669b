// penstock optimize: rewrites a pipeline, predicts, then measures both.

#include <cstdio>

#include "cli/measure.h"
#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/text_diff.h"
#include "io/file.h"
#include "job/optimization.h"
#include "job/text_edits.h"
#include "report/element_json.h"
#include "report/html_report.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

int list_rules(bool json) {
  Json list = Json::array();
  for (const Rule& rule : rules()) {
    Json conditions = Json::array();
    for (const RuleCondition& c : rule.conditions)
      conditions.push_back({{"name", c.name}, {"doc", c.doc}, {"example", c.example}});
    list.push_back({{"name", rule.name},
                    {"doc", rule.doc},
                    {"example", rule.example},
                    {"conditions", conditions}});
    if (!json)
      std::printf("%-23s %s\n", std::string(rule.name).c_str(), std::string(rule.doc).c_str());
  }
  if (json) print_json({{"rules", list}});
  return 0;
}

// Runs both plans in turn and shows which one runs.
MeasuredPair measure(const TunedPlan& now, const TunedPlan& found, const RunOptions& options,
                     double seconds) {
  const Progress progress("both plans are measured");
  return measure_pair(
      now, found, options, seconds,
      [&](const PlanPtr& plan, const RunOptions& run, const TraceLimits& limits) {
        Progress::say(plan == found.plan ? "the new plan is measured" : "the old plan is measured");
        return measured_run(plan, run, limits);
      });
}

// "measured:  3.2k/s, as it runs now 1.1k/s: 2.9x (2.7x to 3.1x in 3 pairs of runs)".
std::string measured_line(const MeasuredPair& m) {
  const Comparison& c = m.comparison;
  const std::string pairs = std::to_string(c.pairs);
  return "measured:  " + human_rate(c.after) + ", as it runs now " + human_rate(c.before) + ": " +
         (m.once
              ? human_ratio(c.before > 0 ? c.after / c.before : 0) + " (once each, the cache fills)"
              : human_ratio(c.ratio) + " (" + human_ratio(c.low) + " to " + human_ratio(c.high) +
                    " in " + pairs + " pairs of runs)");
}

Json ratio_json(const MeasuredPair& m) {
  const auto known = [&](double bound) { return m.once ? Json() : Json(bound); };
  return {{"low", known(m.comparison.low)},
          {"value", m.comparison.ratio},
          {"high", known(m.comparison.high)}};
}

Json estimate_json(const Estimate& e) {
  const auto known = [&](double bound) { return e.has_interval() ? Json(bound) : Json(); };
  return {{"low", known(e.low)}, {"value", e.value}, {"high", known(e.high)}};
}

// Result of a search and, once it is measured, of both plans.
struct Outcome {
  const LoadedPipeline& now;
  const OptimizeOptions& options;
  OptimizeResult found;
  RewrittenText fresh;
  bool changes = false;  // a run of the new text is not what runs now
  bool measured = false;
  MeasuredPair both{};

  const std::string& text_now() const { return now.built.sources.back()->text; }
  bool keeps() const { return !changes || (measured && !both.is_gain()); }
  std::string reason() const {
    if (!changes) return "the pipeline runs like this already: it stays as it is";
    return both.comparison.is_slower() ? "the new plan is slower here: the pipeline stays as it is"
                                       : "no gain is certain: the pipeline stays as it is";
  }
};

Outcome search(const Args& args, const LoadedPipeline& p, const OptimizeOptions& options) {
  const Progress progress("the search begins");
  int traced = 0;
  OptimizeResult found =
      search_plan(p.built.plan, options, p.run_options,
                  [&](const PlanPtr& plan, const RunOptions& run, const TraceLimits& limits) {
                    Progress::say("plan " + std::to_string(++traced) + " is traced");
                    return measured_run(plan, run, limits);
                  });
  RewrittenText fresh = rewritten_text(p, found.plan);
  Outcome out{p, options, std::move(found), std::move(fresh)};
  out.changes = plan_text(p.plan) != plan_text(out.fresh.pipeline.plan);
  out.measured = out.changes && !args.has("--no-measure");
  return out;
}

void print_search(const Outcome& o) {
  std::fputs(
      text_diff(o.fresh.edited ? o.text_now() : plan_text(o.now.built.plan), o.fresh.text).c_str(),
      stdout);
  std::puts("");
  for (const OptimizeResult::Change& c : o.found.changes)
    std::printf("%s -> %s\n", wrap(c.what, 66, 2).c_str(), human_rate(c.rate).c_str());
  for (const std::string& note : o.found.notes) std::printf("%s\n", wrap(note, 80, 2).c_str());
  const Prediction& predicted = o.found.prediction;
  const Estimate& rate = predicted.rate;
  std::printf("\npredicted: %s (%s)", human_rate(rate.value).c_str(),
              rate.has_interval() ? (human_rate(rate.low) + " to " + human_rate(rate.high)).c_str()
                                  : "no interval: the traces are too short for a spread");
  if (o.found.passes > 1) {
    std::printf("; first pass %s, later ones %s", human_rate(predicted.first_pass).c_str(),
                human_rate(predicted.later_passes).c_str());
  }
  std::puts("");
  std::fflush(stdout);
}

void write_page(const Outcome& o, const std::string& file) {
  const AnalyzeOptions machine{o.options.disk_bytes_per_second, 0, o.options.cores,
                               o.options.memory_bytes};
  const Comparison& rates = o.both.comparison;
  HtmlReport report;
  report.title = o.now.built.sources.back()->name;
  report.before = analyze(o.both.before.trace, machine);
  report.after = analyze(o.both.after.trace, machine);
  for (const OptimizeResult::Change& c : o.found.changes)
    report.explain.plan.push_back({c.what, human_rate(c.rate)});
  report.explain.predicted_rate = o.found.prediction.rate;
  report.program_before = o.text_now();
  report.program_after = o.fresh.text;
  const auto cpu = [](const MeasuredPlan& m) {
    return human_seconds(m.trace.interval.process_cpu_seconds /
                         static_cast<double>(std::max<int64_t>(1, m.elements)));
  };
  const auto first = [](const MeasuredPlan& m) {
    return human_seconds(m.trace.interval.first_element_seconds);
  };
  report.comparison = {{"elements per second", human_rate(rates.before), human_rate(rates.after)},
                       {"CPU per element", cpu(o.both.before), cpu(o.both.after)},
                       {"time to the first element", first(o.both.before), first(o.both.after)},
                       {"predicted", "", human_rate(o.found.prediction.rate.value)}};
  write_file_atomically(file, html_report(report));
}

Json outcome_json(const Outcome& o) {
  Json changes = Json::array();
  for (const OptimizeResult::Change& c : o.found.changes)
    changes.push_back({{"change", c.what}, {"rate", c.rate}});
  Json applied = Json::array();
  for (const RuleLog& log : o.found.rules)
    applied.push_back({{"rule", log.rule}, {"stage", log.stage}});
  const Comparison& rates = o.both.comparison;
  return {{"plan", o.fresh.text},
          {"before", o.text_now()},
          {"edited", o.fresh.edited},
          {"predicted", estimate_json(o.found.prediction.rate)},
          {"predicted_first_pass", o.found.prediction.first_pass},
          {"predicted_later_passes", o.found.prediction.later_passes},
          {"passes", o.found.passes},
          {"one_thread_rate", o.found.rate_before},
          {"measured", o.measured ? Json{{"before", rates.before},
                                         {"after", rates.after},
                                         {"ratio", ratio_json(o.both)},
                                         {"pairs", rates.pairs}}
                                  : Json()},
          {"keeps", o.keeps()},
          {"changes", changes},
          {"rules", applied},
          {"notes", o.found.notes}};
}

int optimize(const Args& args) {
  if (args.has("--list-rules")) return list_rules(args.has("--json"));
  const LoadedPipeline p = load_pipeline(args);
  if (p.built.plan->op->sink)
    throw UsageError{"the pipeline ends in a value; optimize one that gives elements"};
  const bool json = args.has("--json");
  if (args.has("--require-gain") && args.has("--no-measure"))
    throw UsageError{"--require-gain needs a measurement: leave --no-measure out"};

  OptimizeOptions options = optimize_options(p.prepare, p.run_options,
                                             static_cast<int>(args.get_int("--cores", 0, 1)), 0);
  const auto slowed = static_cast<int64_t>(p.run_options.throttle.bytes_per_second);
  options.disk_bytes_per_second = static_cast<double>(args.get_bytes("--disk-bandwidth", slowed));
  options.trace_seconds = args.get_seconds("--trace-seconds", 1.5);
  options.iterations = args.get_int("--epochs", 1, 1);
  if (args.has("--epochs")) options.passes = static_cast<double>(options.iterations);
  Outcome o = search(args, p, options);
  if (!json) print_search(o);
  if (o.measured) {
    const LoadedPipeline& fresh = o.fresh.pipeline;
    o.both = measure({iterated(p.plan, options.iterations), p.tuning},
                     {iterated(fresh.plan, options.iterations), fresh.tuning}, p.run_options,
                     args.get_seconds("--seconds", 20));
    if (!json) std::puts(wrap(measured_line(o.both), 80, 2).c_str());
  }
  if (!json && o.keeps()) std::puts(o.reason().c_str());
  // Last, so that whatever fails before leaves the file alone.
  const std::string output = args.get("-o").value_or("");
  if (!output.empty()) write_file_atomically(output, o.keeps() ? o.text_now() : o.fresh.text);
  if (const auto html = args.get("--html"); html && o.both.comparison.after > 0) {
    write_page(o, *html);
    if (!json) std::printf("report: %s\n", html->c_str());
  }
  if (json) {
    print_json(outcome_json(o));
  } else if (!output.empty()) {
    std::printf(o.keeps() ? "the pipeline as it is, written to %s\n" : "written to %s\n",
                output.c_str());
  }
  return args.has("--require-gain") && o.keeps() ? 1 : 0;
}

}  // namespace

Command optimize_command() {
  Command c{
      "optimize",
      "PIPE [-o FAST.pipe] [flags]",
      "rewrite a pipeline for speed; predict and measure the gain",
      "Traces the pipeline, rewrites it to be faster with the same elements in the same order, "
      "and prints "
      "the changes, the prediction, and the rates of both, measured in turn until one is surely "
      "faster. Without a certain gain the pipeline stays as it is. Knobs in the text are only "
      "suggestions.",
      {{"-o", "FILE", "write the faster pipeline here, after all measurements"},
       {"--cores", "N", "cores to plan for (default: --threads)"},
       {"--epochs", "N",
        "passes to plan for: iterations of the program over a pipeline that does not repeat "
        "(default 1), or of one that repeats forever (default 10)"},
       {"--disk-bandwidth", "RATE",
        "rate of the storage, such as 100MB/s (default: that of --throttle)"},
       {"--trace-seconds", "S", "length of each trace (default 1.5s)"},
       {"--seconds", "S", "time for measuring both (default 20s)"},
       {"--no-measure", "", "stop after the prediction, and trust it"},
       {"--require-gain", "", "exit status 1 without a certain gain"},
       {"--html", "FILE", "write a page that compares both, after the measurement"},
       {"--list-rules", "", "print the rewrite rules, in their order"},
       {"--json", "", "one JSON object (docs/format/optimize.md)"}},
      optimize};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
