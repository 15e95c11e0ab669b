// penstock provision: the least machine that reaches a rate.

#include <cmath>
#include <cstdio>
#include <optional>

#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/traced_input.h"
#include "io/file.h"
#include "report/provision_report.h"

namespace penstock::cli {
namespace {

double target_rate(const Args& args) {
  const double consumer = args.get_seconds("--consumer", 0);
  if (args.has("--target") == (consumer > 0))
    throw UsageError{"give the rate that is needed: --target 30/s, or --consumer 25ms"};
  const double rate = consumer > 0 ? 1 / consumer : args.get_rate("--target");
  if (!(rate > 0) || std::isinf(rate)) throw UsageError{"--target must be positive"};
  return rate;
}

Machine machine_of(const Args& args) {
  Machine out;
  if (const int64_t cores = args.get_int("--cores", 0, 1)) out.cores = static_cast<double>(cores);
  if (const int64_t disk = args.get_bytes("--disk-bandwidth", 0))
    out.disk_bytes_per_second = static_cast<double>(disk);
  if (const int64_t memory = args.get_bytes("--within-memory", 0))
    out.memory_bytes = static_cast<double>(memory);
  return out;
}

int provision_machine(const Args& args) {
  ProvisionQuestion question;
  question.rate = target_rate(args);
  question.machine = machine_of(args);
  if (const auto file = args.get("--prices")) {
    constexpr int64_t kMostBytes = 1 << 20;
    question.prices =
        before_work([&] { return parse_prices(*file, read_file(*file, kMostBytes)); });
  }
  const TracedInput input = traced_input(args, args.get_seconds("--seconds", 3));
  const Analysis analysis = analyze(input.trace);
  if (analysis.trace.interval.elements < 1)
    throw Error(Code::failed_precondition,
                "no element came, so that nothing is known of its costs: give more "
                "with --seconds");
  const ProvisionAnswer answer = answer_provision(analysis, question);
  if (args.has("--json"))
    print_json(provision_json(analysis, question, answer));
  else
    std::fputs(provision_text(analysis, question, answer).c_str(), stdout);
  return answer.is_reached() ? 0 : 1;
}

}  // namespace

Command provision_command() {
  Command c{"provision",
            "PIPE|TRACE --target RATE [flags]",
            "the least cores, storage and memory that reach a rate",
            "Runs a pipeline for a moment (or reads a trace) and says which machine it needs to "
            "give so many elements per second, with and without caches, and which limit comes "
            "next. Exit status 1: no machine, or not the one given, reaches it.",
            {{"--target", "RATE", "elements per second that are needed, such as 30/s"},
             {"--consumer", "TIME", "the same as the consumer's work per element, such as 25ms"},
             {"--cores", "N", "cores of the machine in question (default: any number)"},
             {"--within-memory", "SIZE", "its memory (default: any)"},
             {"--disk-bandwidth", "RATE", "its storage, such as 100MB/s (default: any)"},
             {"--prices", "FILE", "prices, to find the cheapest (docs/format/provision.md)"},
             {"--seconds", "S", "how long to run from the first element on (default 3s)"},
             {"--json", "", "one JSON object (docs/format/provision.md)"}},
            provision_machine};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
