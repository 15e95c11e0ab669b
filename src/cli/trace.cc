// penstock trace: runs a pipeline and writes a file of its counters.

#include <cstdio>

#include "cli/attached.h"
#include "cli/measure.h"
#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/terminal.h"
#include "report/element_json.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

TracedRun run_of_pipeline(const Args& args, const std::string& file) {
  const LoadedPipeline p = load_pipeline(args);
  if (file.empty()) throw UsageError{"where to? give -o FILE.trace"};
  if (p.plan->op->sink)
    throw UsageError{"the pipeline ends in a value; trace one that gives elements"};
  return measured_run(p.plan, p.run_options,
                      {.seconds = args.get_seconds("--seconds", TraceLimits::kForever),
                       .elements = args.get_int("--steps", INT64_MAX, 1),
                       .file = file,
                       .tuning = p.tuning});
}

TracedRun run_of_process(const Args& args, const std::string& file) {
  if (file.empty()) throw UsageError{"where to? give -o FILE.trace"};
  if (args.has("--steps")) throw UsageError{"--steps says nothing about --attach; use --seconds"};
  return {attached_trace(args, args.get_int("--run", 0, 1), TraceLimits::kForever, file), nullptr};
}

int trace(const Args& args) {
  const std::string file = args.get("-o").value_or("");
  const TracedRun run =
      args.has("--attach") ? run_of_process(args, file) : run_of_pipeline(args, file);
  write_trace(file, run.trace);
  if (args.has("--json")) {
    print_json({{"file", file},
                {"elements", run.trace.interval.elements},
                {"seconds", run.trace.interval.seconds},
                {"interrupted", run.trace.interval.interrupted},
                {"error", run.error ? error_to_json(*run.error) : Json()}});
  } else {
    const TraceInterval& seen = run.trace.interval;
    std::printf("%lld elements in %s, traced to %s\n", static_cast<long long>(seen.elements),
                human_seconds(seen.seconds).c_str(), file.c_str());
    if (seen.elements == 0 && !seen.ended && !seen.interrupted)
      std::puts("no element came in that time; give more with --seconds");
  }
  if (run.error) {
    std::fprintf(stderr, "%s element %lld: %s: %s\n", signed_by("trace").c_str(),
                 static_cast<long long>(run.trace.interval.elements),
                 paint(Stream::err, Style::red, code_name(run.error->code())).c_str(),
                 run.error->what());
  }
  return run.error ? 1 : 0;
}

}  // namespace

Command trace_command() {
  Command c{"trace",
            "PIPE|--attach PID -o FILE [flags]",
            "run a pipeline and write its program and counters to a file",
            "Runs a pipeline and writes a trace: the program and what each stage did. The file is "
            "replaced every few "
            "seconds and can be read at any moment; Ctrl-C ends the run and leaves a valid trace. "
            "A trace may be given in place of a "
            "PIPE: it contains the program. With --attach the run is one of a process that goes "
            "on, in any language: the trace holds what happened while this command watched.",
            {{"-o", "FILE", "the trace file"},
             {"--attach", "PID", "trace a running process of yours, until Ctrl-C or --seconds"},
             {"--run", "N", "with --attach: which run, if the process has several"},
             {"--steps", "N", "stop after N elements"},
             {"--seconds", "S", "stop after this time"},
             {"--json", "", "one JSON object (docs/format/trace.md)"}},
            trace};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
