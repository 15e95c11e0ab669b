// Counts of a part of a run, from two traces of it.

#include <algorithm>

#include "trace/stage_counters.h"
#include "trace/trace.h"

namespace penstock {
namespace {

void subtract(const std::optional<double>& less, std::optional<double>* from) {
  if (!less) from->reset();
  if (*from) **from -= *less;
}

}  // namespace

Trace trace_difference(const Trace& later, const Trace& earlier) {
  Trace out = later;
  out.fill = nullptr;
  if (!earlier.slices.empty()) out.slices.clear();
  out.interval.seconds -= earlier.interval.seconds;
  out.interval.process_cpu_seconds -= earlier.interval.process_cpu_seconds;
  out.interval.elements -= earlier.interval.elements;
  out.interval.waited_seconds -= earlier.interval.waited_seconds;
  out.interval.consumer_seconds -= earlier.interval.consumer_seconds;
  subtract(earlier.interval.other_cpu_seconds, &out.interval.other_cpu_seconds);
  for (ThreadTrace& t : out.threads) {
    const auto before = std::ranges::find(earlier.threads, t.kind, &ThreadTrace::kind);
    if (before == earlier.threads.end()) continue;
    t.cpu_seconds -= before->cpu_seconds;
    subtract(before->descheduled_seconds, &t.descheduled_seconds);
    t.reads_seconds -= before->reads_seconds;
    t.reads_cpu_seconds -= before->reads_cpu_seconds;
  }
  for (StageTrace& s : out.stages) {
    const auto before = std::ranges::find_if(
        earlier.stages, [&](const StageTrace& e) { return e.id == s.id && e.op == s.op; });
    if (before == earlier.stages.end()) continue;
    // A stage's CPU time is scaled by a share of the whole run, which may have fallen since.
    visit_stage_counters([&](const char*, auto, auto field, bool) {
      s.*field -= std::min(s.*field, (*before).*field);
    });
  }
  return out;
}

}  // namespace penstock
