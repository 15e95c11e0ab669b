#include "cli/measure.h"

#include "cli/deadline.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "optimizer/optimize.h"
#include "plan/unparse.h"

namespace penstock::cli {
std::string plan_text(const PlanPtr& plan) { return format_program(unparse(*plan)); }

TracedRun traced_run(const PlanPtr& plan, const RunOptions& options, const std::string& program,
                     double seconds, int64_t steps, int64_t skip, const std::string& file) {
  constexpr double kFileEverySeconds = 5;
  constexpr double kSkipFactor =
      20;  // time limit of skipped elements, relative to that of the others
  TracedRun out;
  constexpr double kForEver = 1e9;
  const Progress progress("elements", seconds < kForEver ? seconds : 0);
  BlockIterator iterator(plan, options, std::make_shared<PipelineState>());
  const CancelOnSignal cancel(&iterator);
  Deadline deadline(&iterator, skip > 0 ? kSkipFactor * seconds : seconds);
  const double cpu_start = process_cpu_seconds();
  const int64_t start = now_ns();
  int64_t elements = 0;
  double written = 0, first = 0;
  bool ended = false, interrupted = false;
  Trace skipped;
  bool skipping = skip > 0;
  auto since = [&](int64_t from) { return static_cast<double>(now_ns() - from) * 1e-9; };
  auto capture = [&] {
    CaptureOptions capture_options;
    capture_options.interval = {since(start),
                                process_cpu_seconds() - cpu_start,
                                elements,
                                first,
                                static_cast<double>(iterator.waited_ns()) * 1e-9,
                                0,
                                ended,
                                interrupted};
    return capture_trace(iterator.run(), program, capture_options);
  };
  Block block;
  while (elements < steps && !deadline.passed()) {
    try {
      if (!iterator.next(&block,
                         std::min<int64_t>(steps - elements, elements == 0 ? 1 : INT64_MAX))) {
        ended = true;
        break;
      }
    } catch (const Error& e) {
      if (e.code() != Code::cancelled) throw;
      interrupted = !deadline.passed() || CancelOnSignal::requested();
      break;
    }
    if (elements == 0) first = since(start);
    elements += block.errors.empty() ? block.rows : block.errors[0].row;
    if (!block.errors.empty()) {
      out.error = block.errors[0].error;
      interrupted = true;
      break;
    }
    if (skipping && elements >= skip) {
      skipping = false;
      skipped = capture();
      deadline.set(seconds);
    }
    const double now = since(start);
    Progress::count(elements, steps < INT64_MAX ? steps : 0);
    if (!file.empty() && now - written > kFileEverySeconds) {
      written = now;
      write_trace(file, capture());
    }
  }
  block.clear();
  out.trace = capture();
  if (skip > 0 && !skipping) out.trace = trace_difference(out.trace, skipped);
  return out;
}

}  // namespace penstock::cli
