#include "cli/measure.h"

#include <unistd.h>

#include <cstdio>

#include "cli/interrupt.h"
#include "optimizer/optimize.h"
#include "plan/unparse.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

// A line on the terminal that is rewritten in place, from the third second on.
class Progress {
 public:
  explicit Progress(double whole_seconds)
      : whole_(whole_seconds), terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }
  void update(double seconds, int64_t elements) {
    if (!terminal_ || seconds < 2 || seconds - last_ < 0.2) return;
    last_ = seconds;
    shown_ = true;
    const int done = whole_ < 1e9 ? static_cast<int>(20 * std::min(1.0, seconds / whole_)) : 0;
    std::string bar(static_cast<size_t>(done), '#');
    bar.resize(20, '.');
    std::fprintf(stderr, "\r[%s] %s, %lld elements\033[K", bar.c_str(),
                 human_seconds(seconds).c_str(), static_cast<long long>(elements));
  }

 private:
  double whole_;
  bool terminal_, shown_ = false;
  double last_ = 0;
};

}  // namespace

std::string plan_text(const PlanPtr& plan) { return format_program(unparse(*plan)); }

TracedRun traced_run(const PlanPtr& plan, const RunOptions& options, const std::string& program,
                     double seconds, int64_t steps, int64_t skip, const std::string& file) {
  constexpr double kFileEverySeconds = 5;
  TracedRun out;
  Progress progress(seconds);
  BlockIterator iterator(plan, options, std::make_shared<PipelineState>());
  const CancelOnSignal cancel(&iterator);
  const double cpu_start = process_cpu_seconds();
  const int64_t start = now_ns();
  int64_t elements = 0, counted_from = start;
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
  while (elements < steps && (skipping || since(counted_from) < seconds)) {
    try {
      if (!iterator.next(&block,
                         std::min<int64_t>(steps - elements, elements == 0 ? 1 : INT64_MAX))) {
        ended = true;
        break;
      }
    } catch (const Error& e) {
      if (e.code() != Code::cancelled) throw;
      interrupted = true;
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
      counted_from = now_ns();
    }
    const double now = since(start);
    progress.update(now, elements);
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
