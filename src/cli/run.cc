// penstock run: drains a pipeline and reports its speed.

#include <cstdio>

#include "cli/measure.h"
#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "io/file.h"
#include "job/drained_run.h"
#include "report/element_json.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

// Checks what the flags ask for and reads the checkpoint to resume from.
Checkpoints open_checkpoints(const Args& args, const LoadedPipeline& p) {
  CheckpointChoices choices;
  choices.file = args.get("--checkpoint").value_or("");
  choices.every = args.get_int("--checkpoint-every", INT64_MAX, 1);
  choices.resume = args.has("--resume");
  choices.former_ranks = args.all("--resume-from");
  if (choices.file.empty() && (args.has("--checkpoint-every") || choices.resume))
    throw UsageError{"--checkpoint-every and --resume go with --checkpoint FILE"};
  for (const std::string& file : choices.former_ranks) {
    if (file == choices.file) {
      throw UsageError{"--checkpoint must not overwrite what --resume-from names, other ranks "
                       "need it: " +
                       file};
    }
    if (!file_status(file).exists()) throw UsageError{"--resume-from: there is no file " + file};
  }
  return before_work([&] { return Checkpoints(choices, p); });
}

DrainedRun drained(const Args& args, const LoadedPipeline& p, bool digested) {
  DrainLimits limits;
  limits.elements = args.get_int("--steps", limits.elements, 0);
  limits.seconds = args.get_seconds("--seconds", limits.seconds);
  Checkpoints checkpoints = open_checkpoints(args, p);
  const Progress progress("elements", limits.seconds < DrainLimits::kForever ? limits.seconds : 0);
  CommandRun observer;
  return drain(p, &checkpoints, limits, digested, &observer);
}

// Reports errors that failure policies dropped: their number at each stage, and the first ones.
Json ignored_json(const DrainedRun& o) {
  Json out = Json::array();
  for (const IgnoredAt& ignored : o.ignored) {
    Json first = Json::array();
    for (const ErrorPtr& e : ignored.first) first.push_back(error_to_json(*e));
    out.push_back({{"stage", ignored.stage}, {"count", ignored.count}, {"first", first}});
  }
  return out;
}

void print_ignored(const DrainedRun& o) {
  for (const IgnoredAt& ignored : o.ignored) {
    std::printf("%s: %lld errors, the first of them:\n", ignored.stage.c_str(),
                static_cast<long long>(ignored.count));
    for (const ErrorPtr& e : ignored.first)
      std::printf("  %s: %s\n", std::string(code_name(e->code())).c_str(), e->what());
  }
}

int report_value(const LoadedPipeline& p, bool json) {
  const std::vector<Tensor> value = [&] {
    const Progress progress("a value is computed");
    return run_sink(p.plan, p.run_options, std::make_shared<PipelineState>());
  }();
  size_t next = 0;
  const Json v = element_to_json(p.plan->spec, value, &next);
  print_json(json ? Json{{"value", v}} : v, -1);
  return 0;
}

int run(const Args& args) {
  const LoadedPipeline p = load_pipeline(args);
  if (p.plan->op->sink) return report_value(p, args.has("--json"));
  const bool digested = args.has("--digest") || args.has("--checkpoint");
  const DrainedRun o = drained(args, p, digested);
  const double rate = o.seconds > 0 ? static_cast<double>(o.elements - o.resumed) / o.seconds : 0;
  if (args.has("--json")) {
    Json out{{"elements", o.elements},
             {"resumed_elements", o.resumed},
             {"seconds", o.seconds},
             {"cpu_seconds", o.cpu_seconds},
             {"rate", rate},
             {"first_element_seconds", o.first_element_seconds},
             {"waited_seconds", o.waited_seconds},
             {"peak_memory_bytes", o.peak_memory_bytes},
             {"threads", p.prepare.threads},
             {"seed", p.choices.seed},
             {"ended", o.ended},
             {"cancelled", CancelOnSignal::requested()},
             {"digest", digested ? Json(o.digest->ordered().text()) : Json()},
             {"digest_unordered", digested ? Json(o.digest->unordered().text()) : Json()},
             {"ignored_errors", ignored_json(o)},
             {"notes", o.notes},
             {"error", o.error ? error_to_json(*o.error) : Json()},
             {"stages", trace_stages_json(o.trace)}};
    print_json(out);
  } else {
    std::printf("%lld elements in %s: %s\n", static_cast<long long>(o.elements),
                human_seconds(o.seconds).c_str(), human_rate(rate).c_str());
    std::printf("first element after %s, CPU %s, waited %s, peak memory %s\n",
                human_seconds(o.first_element_seconds).c_str(),
                human_seconds(o.cpu_seconds).c_str(), human_seconds(o.waited_seconds).c_str(),
                human_bytes(static_cast<double>(o.peak_memory_bytes)).c_str());
    if (digested) {
      std::printf("digest %s\n       %s in any order\n", o.digest->ordered().text().c_str(),
                  o.digest->unordered().text().c_str());
    }
    if (o.elements == o.resumed && !o.ended && !o.error && !CancelOnSignal::requested() &&
        args.has("--seconds"))
      std::puts("no element came in that time; give more with --seconds");
    print_ignored(o);
    for (const std::string& note : o.notes) std::printf("%s\n", wrapped(note, 80, 2).c_str());
  }
  if (o.error) {
    std::fprintf(stderr, "%s element %lld: %s: %s\n", signed_by("run").c_str(),
                 static_cast<long long>(o.elements),
                 paint(Stream::err, Style::red, code_name(o.error->code())).c_str(),
                 o.error->what());
    return 1;
  }
  if (CancelOnSignal::requested()) {
    std::fprintf(stderr, "penstock run: cancelled after %lld elements\n",
                 static_cast<long long>(o.elements));
    return 1;
  }
  return 0;
}

}  // namespace

Command run_command() {
  Command c{"run",
            "PIPE [flags]",
            "drain a pipeline: rate, CPU, memory, time to first element",
            "Runs a pipeline to its end, or to the limit of --steps or --seconds, drops the "
            "elements and reports "
            "the speed. The first element that fails ends the run with its error.",
            {{"--steps", "N", "stop after N elements"},
             {"--seconds", "S", "stop after this time, such as 10s"},
             {"--digest", "", "print digests of the elements: equal for equal data"},
             {"--checkpoint", "FILE", "write a checkpoint at the end and on Ctrl-C"},
             {"--checkpoint-every", "N", "also write one after every N elements"},
             {"--resume", "", "resume from the checkpoint, if there is one"},
             {"--resume-from", "FILE",
              "resume as one of another number of ranks; repeat it for the "
              "checkpoint of each former rank"},
             {"--json", "", "one JSON object (docs/format/run.md)"}},
            run};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
