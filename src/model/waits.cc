#include "model/waits.h"

#include <algorithm>

namespace penstock {

Waits waits_of(const Trace& trace) {
  Waits out;
  const double seconds = trace.interval.seconds;
  if (seconds <= 0) return out;
  if (trace.interval.other_cpu_seconds)
    out.other_cores = *trace.interval.other_cpu_seconds / seconds;
  out.process_cores = trace.interval.process_cpu_seconds / seconds;
  if (trace.threads.empty()) return out;
  double cpu = 0, descheduled = 0, storage = 0;
  bool known = true;
  for (const ThreadTrace& t : trace.threads) {
    known &= t.descheduled_seconds.has_value();
    const double without_core = t.descheduled_seconds.value_or(0);
    cpu += t.cpu_seconds;
    descheduled += without_core;
    // A read is over before its thread has a core again. All of that time is taken off, though some
    // of it was spent outside of reads: what is left is storage for certain.
    storage += std::max(0.0, t.reads_seconds - t.reads_cpu_seconds - without_core);
  }
  if (!known) return out;
  out.descheduled_seconds = descheduled;
  out.descheduled_share = cpu + descheduled > 0 ? descheduled / (cpu + descheduled) : 0;
  out.storage_seconds = storage;
  return out;
}

}  // namespace penstock
