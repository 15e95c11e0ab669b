#include "job/traced_run.h"

#include <atomic>

#include "job/attach_server.h"
#include "job/deadline.h"
#include "optimizer/optimize.h"
#include "plan/format.h"
#include "plan/unparse.h"
#include "trace/slices.h"

namespace penstock {
namespace {

double seconds_since(int64_t start_ns) { return static_cast<double>(now_ns() - start_ns) * 1e-9; }

class Tracing {
 public:
  Tracing(const PlanPtr& plan, const RunOptions& options,
          const std::shared_ptr<PipelineState>& state, const TraceLimits& limits,
          RunObserver* observer)
      : limits_(limits),
        observer_(observer),
        program_(plan_text(plan)),
        iterator_(plan, options, state),
        slices_(&iterator_.run()),
        tuner_(&iterator_.run(), limits.tuning),
        deadline_(&iterator_, limits.skip > 0            ? kSkipFactor * limits.seconds
                              : limits.first_seconds > 0 ? limits.first_seconds
                                                         : limits.seconds) {
    if (observer_) observer_->begin(&iterator_);
  }
  ~Tracing() {
    if (observer_) observer_->end();
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  TracedRun run() {
    TracedRun out;
    Block block;
    while (!out.error && seen_.elements < limits_.elements && !deadline_.passed() && pull(&block)) {
      const bool first = seen_.elements == 0;
      if (first) seen_.first_element_seconds = seconds_since(start_);
      seen_.elements += block.errors.empty() ? block.rows : block.errors[0].row;
      if (!block.errors.empty()) out.error = block.errors[0].error;
      if (limits_.digest) limits_.digest->add(block);
      if (first && !out.error) end_fill();
      end_skipping();
      slices_.count(seen_.elements);
      if (observer_)
        observer_->count(seen_.elements, limits_.elements < INT64_MAX ? limits_.elements : 0);
      write_file();
    }
    seen_.interrupted |= out.error != nullptr;
    block.clear();
    out.trace = capture();
    out.trace.fill = fill_;
    out.trace.slices = slices_.slices(seen_.elements);
    if (limits_.skip > 0 && !skipping_) out.trace = trace_difference(out.trace, skipped_);
    return out;
  }

 private:
  // Skipped elements have this many times the time of the others.
  static constexpr double kSkipFactor = 20;

  // Returns false at the end and after a cancellation.
  bool pull(Block* block) {
    const int64_t most =
        std::min(limits_.elements - seen_.elements, seen_.elements == 0 ? int64_t{1} : INT64_MAX);
    try {
      const LiveTuner::Asking asking(&tuner_);
      seen_.ended = !iterator_.next(block, most);
      waited_ns_.store(iterator_.waited_ns(), std::memory_order_relaxed);
      return !seen_.ended;
    } catch (const Error& e) {
      if (e.code() != Code::cancelled) throw;
      seen_.interrupted = !deadline_.passed() || (observer_ && observer_->is_stopped());
      return false;
    }
  }

  void end_fill() {
    fill_ = std::make_shared<const Trace>(capture(false));
    slices_.start(seen_.elements);
    if (limits_.first_seconds > 0 && limits_.skip == 0) deadline_.set(limits_.seconds);
  }

  void end_skipping() {
    if (!skipping_ || seen_.elements < limits_.skip) return;
    skipping_ = false;
    skipped_ = capture();
    slices_.start(seen_.elements);
    deadline_.set(limits_.seconds);
  }

  void write_file() {
    constexpr double kEverySeconds = 5;
    if (limits_.file.empty() || seconds_since(start_) - written_ < kEverySeconds) return;
    written_ = seconds_since(start_);
    Trace trace = capture();
    trace.fill = fill_;
    trace.slices = slices_.slices(seen_.elements);
    write_trace(limits_.file, trace);
  }

  // From any thread.
  Trace live_trace(bool file_sizes) const {
    CaptureOptions options;
    options.file_sizes = file_sizes;
    Trace out = capture_trace(iterator_.run(), program_, options);
    out.interval.waited_seconds = static_cast<double>(waited_ns_.load()) * 1e-9;
    out.decisions = tuner_.decisions();
    return out;
  }

  Trace capture(bool file_sizes = true) {
    CaptureOptions options;
    options.file_sizes = file_sizes;
    seen_.seconds = seconds_since(start_);
    seen_.process_cpu_seconds = process_cpu_seconds() - cpu_start_;
    seen_.waited_seconds = static_cast<double>(iterator_.waited_ns()) * 1e-9;
    if (const auto busy = cores_busy_seconds(); busy && busy_start_)
      seen_.other_cpu_seconds = std::max(0.0, *busy - *busy_start_ - seen_.process_cpu_seconds);
    options.interval = seen_;
    Trace out = capture_trace(iterator_.run(), program_, options);
    out.decisions = tuner_.decisions();
    return out;
  }

  const TraceLimits& limits_;
  RunObserver* const observer_;
  const std::string program_;
  BlockIterator iterator_;
  SliceRecorder slices_;
  LiveTuner tuner_;
  Deadline deadline_;
  const double cpu_start_ = process_cpu_seconds();
  const std::optional<double> busy_start_ = cores_busy_seconds();
  const int64_t start_ = now_ns();
  TraceInterval seen_;
  std::shared_ptr<const Trace> fill_;
  bool skipping_ = limits_.skip > 0;
  Trace skipped_;
  double written_ = 0;
  std::atomic<int64_t> waited_ns_{0};
  // Made last and destroyed first: captures read the run and the tuner.
  const AttachableRun attachable_{iterator_.run(),
                                  [this](bool sizes) { return live_trace(sizes); }};
};

}  // namespace

std::string plan_text(const PlanPtr& plan) { return format_program(unparse(*plan)); }

TracedRun traced_run(const PlanPtr& plan, const RunOptions& options,
                     const std::shared_ptr<PipelineState>& state, const TraceLimits& limits,
                     RunObserver* observer) {
  return Tracing(plan, options, state, limits, observer).run();
}

}  // namespace penstock
