#include "cli/attached.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "cli/interrupt.h"
#include "cli/pipeline.h"
#include "cli/progress.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

constexpr double kLookSeconds = 1, kWriteSeconds = 5;

void check_flags(const Args& args) {
  if (!args.positional().empty())
    throw UsageError{"a pipeline or --attach, not both: " + args.positional()[0]};
  for (const Flag& f : pipeline_flags()) {
    if (args.has(f.name)) throw UsageError{f.name + " says nothing about --attach"};
  }
}

int64_t chosen_run(const AttachedProcess& process, int64_t wanted) {
  const std::vector<AttachedRun> runs = process.runs();
  const std::string name = "process " + std::to_string(process.pid());
  if (runs.empty())
    throw Refusal({Code::failed_precondition, name + " has no pipeline open at the moment"});
  if (wanted == 0 && runs.size() == 1) return runs[0].run;
  std::string list;
  for (const AttachedRun& r : runs) {
    if (r.run == wanted) return wanted;
    list += (list.empty() ? "" : ", ") + std::to_string(r.run) + " (" +
            human_number(static_cast<double>(r.elements)) + " elements in " +
            human_seconds(r.seconds) + ")";
  }
  throw Refusal({Code::not_found,
                 name +
                     (wanted > 0 ? " has no run " + std::to_string(wanted) : " has several runs") +
                     "; choose one with --run: " + list});
}

// The sizes of files are looked up at the first look and the last one only.
void take_file_sizes(const Trace& from, Trace* to) {
  for (size_t i = 0; i < std::min(from.stages.size(), to->stages.size()); ++i) {
    StageTrace& s = to->stages[i];
    s.source_bytes = std::max(s.source_bytes, from.stages[i].source_bytes);
    s.source_files = std::max(s.source_files, from.stages[i].source_files);
  }
}

}  // namespace

AttachedProcess attach_to(const std::string& pid) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(pid.data(), pid.data() + pid.size(), number);
  if (error != std::errc() || end != pid.data() + pid.size() || number <= 0)
    throw UsageError{"a process is a number, as ps prints it: " + pid};
  return before_work([&] { return AttachedProcess(number); });
}

Trace attached_trace(const Args& args, int64_t wanted, double seconds, const std::string& file) {
  check_flags(args);
  seconds = args.get_seconds("--seconds", seconds);
  const AttachedProcess process = attach_to(args.get("--attach").value_or(""));
  const int64_t run = chosen_run(process, wanted);
  const Progress progress("tracing process " + std::to_string(process.pid()));
  const Trace first = process.trace(run, true);
  const WakeOnSignal wake;
  Trace last;
  double written = 0;
  const auto seen = [&] { return last.interval.seconds - first.interval.seconds; };
  for (bool ends = false; !ends;) {
    const double left = seconds - std::max(0.0, seen());
    ends = wake.wait(std::min(left, kLookSeconds)) == WakeOnSignal::Woken::signal ||
           left <= kLookSeconds;
    try {
      last = process.trace(run, ends);
    } catch (const Error& e) {
      if (last.stages.empty()) throw;
      Progress::hide();
      std::fprintf(stderr, "%s; the trace ends before that\n", e.what());
      ends = true;
    }
    take_file_sizes(first, &last);
    if (!file.empty() && !ends && seen() - written >= kWriteSeconds) {
      written = seen();
      write_trace(file, trace_between(first, last));
    }
  }
  return trace_between(first, last);
}

}  // namespace penstock::cli
