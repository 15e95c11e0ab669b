// penstock explain: the limit of a pipeline, and changes that would raise it.

#include <cstdio>

#include "cli/attached.h"
#include "cli/explain_functions.h"
#include "cli/explain_rewrites.h"
#include "cli/measure.h"
#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/traced_input.h"
#include "io/file.h"
#include "job/suggestions.h"
#include "report/html_report.h"
#include "report/json_report.h"
#include "report/table.h"
#include "report/text_report.h"

namespace penstock::cli {
namespace {

// Prints the functions, not the report.
int explain_functions(const Args& args) {
  if (args.has("--attach")) throw UsageError{"--attach says nothing about --functions"};
  const LoadedPipeline p = load_pipeline(args);
  if (p.plan->op->sink)
    throw UsageError{"the pipeline ends in a value; explain one that gives elements"};
  const std::vector<FunctionReport> reports = [&] {
    const Progress progress("the ops of each function are measured");
    CommandRun observer;
    return measure_functions(p.plan, p.run_options, &observer);
  }();
  if (args.has("--json")) {
    print_json({{"functions", functions_json(reports)}});
  } else {
    std::fputs(functions_text(reports).c_str(), stdout);
  }
  return 0;
}

// Prints what the rules do; nothing runs.
int explain_rewrites(const Args& args) {
  for (const char* flag : {"--functions", "--seconds", "--attach", "--run", "--consumer",
                           "--disk-bandwidth", "--cores", "--html", "--full"}) {
    if (args.has(flag)) throw UsageError{std::string(flag) + " says nothing about --rewrites"};
  }
  const Rewrites rewrites = rewrites_of(load_pipeline(args));
  if (args.has("--json")) {
    print_json(rewrites_json(rewrites));
  } else {
    std::fputs(rewrites_text(rewrites).c_str(), stdout);
  }
  return 0;
}

int explain(const Args& args) {
  if (args.has("--rewrites")) return explain_rewrites(args);
  if (args.has("--functions")) return explain_functions(args);
  const auto attached = args.get("--attach");
  const std::string path = attached ? "process " + *attached : pipe_argument(args);
  const auto [trace, disk_bytes_per_second] =
      attached ? TracedInput{attached_trace(args, args.get_int("--run", 0, 1), 3)}
               : traced_input(args, args.get_seconds("--seconds", 3));
  AnalyzeOptions options;
  options.consumer_seconds = args.get_seconds("--consumer", 0);
  options.disk_bytes_per_second = static_cast<double>(
      args.get_bytes("--disk-bandwidth", static_cast<int64_t>(disk_bytes_per_second)));
  options.cores = static_cast<int>(args.get_int("--cores", 0, 1));
  if (options.cores == 0) options.cores = usable_cores();
  options.memory_bytes = args.get_bytes("--memory", 0);
  const Analysis analysis = analyze(trace, options);
  const ExplainOptions explanation = suggestions(analysis);
  if (const auto html = args.get("--html")) {
    HtmlReport report;
    report.title = path;
    report.before = analysis;
    report.explain = explanation;
    report.program_before = trace.program;
    write_file_atomically(*html, html_report(report));
  }
  if (args.has("--json")) {
    print_json(explain_json(analysis, explanation));
  } else {
    const Heading bold = [](std::string_view heading) {
      return paint(Stream::out, Style::bold, heading);
    };
    std::fputs(explain_text(analysis, explanation, args.has("--full"), bold).c_str(), stdout);
    if (const auto html = args.get("--html")) std::printf("\nreport: %s\n", html->c_str());
  }
  return 0;
}

}  // namespace

Command explain_command() {
  Command c{
      "explain",
      "PIPE|TRACE|--attach PID [flags]",
      "find what limits a pipeline: verdict, stages, ceilings",
      "Runs a pipeline for a moment (or reads a trace) and reports whether training would wait "
      "for it, which stage "
      "limits it, the cost of each stage, the next limits, and how reliable the answer is.",
      {{"--seconds", "S", "how long to run from the first element on (default 3s)"},
       {"--attach", "PID", "explain a run of this process of yours, which goes on"},
       {"--run", "N", "with --attach: which run, if the process has several"},
       {"--consumer", "TIME", "the consumer's own work per element, such as 25ms"},
       {"--disk-bandwidth", "RATE",
        "rate of the storage, such as 100MB/s (default: that of --throttle)"},
       {"--cores", "N", "cores to plan for (default: all usable cores)"},
       {"--html", "FILE", "write a page that needs no network"},
       {"--functions", "", "measure the cost of each op of each function instead"},
       {"--rewrites", "", "print what the rewrite rules do, and what stops others, instead"},
       {"--full", "", "print everything, even if nothing is wrong"},
       {"--json", "", "one JSON object (docs/format/explain.md)"}},
      explain};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
