// penstock optimize: rewrites a pipeline, predicts, then measures both.

#include <cstdio>
#include <sstream>

#include "cli/measure.h"
#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "io/file.h"
#include "job/optimization.h"
#include "report/element_json.h"
#include "report/html_report.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

// Returns the lines of both texts in order, " " kept, "-" removed, "+" added: by the longest common
// subsequence.
std::string diff(const std::string& before, const std::string& after) {
  auto lines = [](const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  };
  const std::vector<std::string> a = lines(before), b = lines(after);
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t k = b.size(); k-- > 0;) {
      common[i][k] =
          a[i] == b[k] ? common[i + 1][k + 1] + 1 : std::max(common[i + 1][k], common[i][k + 1]);
    }
  }
  std::string out;
  size_t i = 0, k = 0;
  while (i < a.size() || k < b.size()) {
    if (i < a.size() && k < b.size() && a[i] == b[k]) {
      out += "  " + a[i++] + "\n";
      ++k;
    } else if (i < a.size() && (k == b.size() || common[i + 1][k] >= common[i][k + 1])) {
      out += paint(Stream::out, Style::red, "- " + a[i++]) + "\n";
    } else {
      out += paint(Stream::out, Style::green, "+ " + b[k++]) + "\n";
    }
  }
  return out;
}

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

MeasuredPlan measure(const std::string& what, const PlanPtr& plan, const RunOptions& options,
                     double seconds) {
  const Progress progress("the plan " + what + " is measured");
  return measure_plan(plan, options, seconds, measured_run);
}

Json estimate_json(const Estimate& e) {
  return {{"low", e.low}, {"value", e.value}, {"high", e.high}};
}

int optimize(const Args& args) {
  if (args.has("--list-rules")) return list_rules(args.has("--json"));
  const LoadedPipeline p = load_pipeline(args);
  if (p.built.plan->op->sink)
    throw UsageError{"the pipeline ends in a value; optimize one that gives elements"};
  const PlanPtr written = p.built.plan;
  const bool json = args.has("--json");
  const std::string output = args.get("-o").value_or("");

  OptimizeOptions options = optimize_options(p.prepare, p.run_options,
                                             static_cast<int>(args.get_int("--cores", 0, 1)), 0);
  const auto slowed = static_cast<int64_t>(p.run_options.throttle.bytes_per_second);
  options.disk_bytes_per_second = static_cast<double>(args.get_bytes("--disk-bandwidth", slowed));
  options.trace_seconds = args.get_seconds("--trace-seconds", 1.5);
  options.passes = static_cast<double>(args.get_int("--epochs", 10, 1));
  int traced = 0;
  const auto trace_one = [&](const PlanPtr& plan, const RunOptions& run,
                             const TraceLimits& limits) {
    Progress::say("plan " + std::to_string(++traced) + " is traced");
    return measured_run(plan, run, limits);
  };
  const OptimizeResult result = [&] {
    const Progress progress("the search begins");
    return search_plan(written, options, p.run_options, trace_one);
  }();
  const std::string before = plan_text(written), after = plan_text(result.plan);
  if (!output.empty()) write_file_atomically(output, after);

  if (!json) {
    std::fputs(diff(before, after).c_str(), stdout);
    std::puts("");
    for (const OptimizeResult::Change& c : result.changes) {
      std::printf("%s -> %s\n", wrap(c.what, 66, 2).c_str(), human_rate(c.rate).c_str());
    }
    for (const std::string& note : result.notes) std::printf("%s\n", wrap(note, 80, 2).c_str());
    std::printf("\npredicted: %s (%s to %s)", human_rate(result.prediction.rate.value).c_str(),
                human_rate(result.prediction.rate.low).c_str(),
                human_rate(result.prediction.rate.high).c_str());
    if (result.passes > 1) {
      std::printf("; first pass %s, later ones %s",
                  human_rate(result.prediction.first_pass).c_str(),
                  human_rate(result.prediction.later_passes).c_str());
    }
    std::puts("");
    std::fflush(stdout);
  }
  MeasuredPlan slow, fast;
  if (!args.has("--no-measure")) {
    const double seconds = args.get_seconds("--seconds", 20);
    slow = measure("as written", written, p.run_options, seconds_for_written(seconds));
    fast = measure("rewritten", result.plan, p.run_options, seconds);
    if (!json) {
      std::printf("measured:  %s, as written %s: %s\n", human_rate(fast.rate).c_str(),
                  human_rate(slow.rate).c_str(),
                  human_ratio(slow.rate > 0 ? fast.rate / slow.rate : 0).c_str());
      if (fast.rate < slow.rate) std::puts("the plan as written is faster here: keep it");
    }
  }
  if (const auto html = args.get("--html"); html && fast.rate > 0) {
    HtmlReport report;
    report.title = p.built.sources.back()->name;
    report.before = analyze(
        slow.trace, {options.disk_bytes_per_second, 0, options.cores, options.memory_bytes});
    report.after = analyze(fast.trace,
                           {options.disk_bytes_per_second, 0, options.cores, options.memory_bytes});
    for (const OptimizeResult::Change& c : result.changes)
      report.explain.plan.push_back({c.what, human_rate(c.rate)});
    report.explain.predicted_rate = result.prediction.rate;
    report.program_before = before;
    report.program_after = after;
    auto cpu = [](const MeasuredPlan& m) {
      return human_seconds(m.trace.interval.process_cpu_seconds /
                           static_cast<double>(std::max<int64_t>(1, m.elements)));
    };
    report.comparison = {
        {"elements per second", human_rate(slow.rate), human_rate(fast.rate)},
        {"CPU per element", cpu(slow), cpu(fast)},
        {"time to the first element", human_seconds(slow.trace.interval.first_element_seconds),
         human_seconds(fast.trace.interval.first_element_seconds)},
        {"predicted", "", human_rate(result.prediction.rate.value)}};
    write_file_atomically(*html, html_report(report));
    if (!json) std::printf("report: %s\n", html->c_str());
  }
  if (json) {
    Json changes = Json::array();
    for (const OptimizeResult::Change& c : result.changes)
      changes.push_back({{"change", c.what}, {"rate", c.rate}});
    Json applied = Json::array();
    for (const RuleLog& log : result.rules)
      applied.push_back({{"rule", log.rule}, {"stage", log.stage}});
    print_json(
        {{"plan", after},
         {"before", before},
         {"predicted", estimate_json(result.prediction.rate)},
         {"predicted_first_pass", result.prediction.first_pass},
         {"predicted_later_passes", result.prediction.later_passes},
         {"passes", result.passes},
         {"one_thread_rate", result.rate_before},
         {"measured",
          args.has("--no-measure") ? Json() : Json{{"before", slow.rate}, {"after", fast.rate}}},
         {"changes", changes},
         {"rules", applied},
         {"notes", result.notes}});
  } else if (!output.empty()) {
    std::printf("written to %s\n", output.c_str());
  }
  return 0;
}

}  // namespace

Command optimize_command() {
  Command c{
      "optimize",
      "PIPE [-o FAST.pipe] [flags]",
      "rewrite a pipeline for speed; predict and measure the gain",
      "Traces the pipeline, rewrites it to be faster with the same elements in the same order, "
      "and prints "
      "the changes, the prediction, and the measured rates of both. Knobs in the text are only "
      "suggestions.",
      {{"-o", "FILE", "write the new pipeline here"},
       {"--cores", "N", "cores to plan for (default: --threads)"},
       {"--epochs", "N", "passes to plan for if the pipeline repeats forever (default 10)"},
       {"--disk-bandwidth", "RATE",
        "rate of the storage, such as 100MB/s (default: that of --throttle)"},
       {"--trace-seconds", "S", "length of each trace (default 1.5s)"},
       {"--seconds", "S", "time limit of the final measurement (default 20s)"},
       {"--no-measure", "", "stop after the prediction"},
       {"--html", "FILE", "write a page that compares both, after the measurement"},
       {"--list-rules", "", "print the rewrite rules, in their order"},
       {"--json", "", "one JSON object (docs/format/optimize.md)"}},
      optimize};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
