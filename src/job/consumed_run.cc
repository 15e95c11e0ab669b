#include "job/consumed_run.h"

#include <sys/prctl.h>

#include <ctime>

#include "job/deadline.h"

namespace penstock {
namespace {

double seconds_since(int64_t start_ns) { return static_cast<double>(now_ns() - start_ns) * 1e-9; }

// Sleeps end as exactly as the kernel can, for the lifetime of this object.
class ExactSleeps {
 public:
  ExactSleeps() : slack_ns_(::prctl(PR_GET_TIMERSLACK)) { ::prctl(PR_SET_TIMERSLACK, 1UL); }
  ~ExactSleeps() { ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_ns_)); }
  ExactSleeps(const ExactSleeps&) = delete;
  ExactSleeps& operator=(const ExactSleeps&) = delete;

  // Ends early on a signal.
  void sleep(double seconds) const {
    timespec time{};
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_nsec = static_cast<int64_t>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
    ::nanosleep(&time, nullptr);
  }

 private:
  const int slack_ns_;
};

class Consumer {
 public:
  Consumer(const PlanPtr& plan, const RunOptions& options, const Tuning& tuning,
           const ConsumerLimits& limits, RunObserver* observer)
      : limits_(limits),
        observer_(observer),
        iterator_(plan, options, std::make_shared<PipelineState>()),
        tuner_(&iterator_.run(), tuning) {}

  ConsumedRun run() {
    const Observed observed(observer_, &iterator_);
    const Deadline deadline(&iterator_, limits_.seconds);
    int64_t first_steps = 0;
    double done_seconds = 0;  // when the last step was done
    while (out_.steps < limits_.steps && !deadline.passed()) {
      const int64_t rows = pull();
      if (rows == 0) break;
      if (limits_.work_seconds > 0) sleeps_.sleep(limits_.work_seconds);
      out_.steps += rows;
      done_seconds = seconds_since(start_);
      if (first_steps == 0) {
        first_steps = rows;
        out_.first_seconds = done_seconds;
      }
      if (observer_) observer_->count(out_.steps, limits_.steps < INT64_MAX ? limits_.steps : 0);
    }
    out_.is_stopped = observed.is_stopped();
    out_.seconds = seconds_since(start_);
    if (out_.steps > first_steps)
      out_.step_seconds =
          (done_seconds - out_.first_seconds) / static_cast<double>(out_.steps - first_steps);
    return out_;
  }

 private:
  // Returns the elements that came; 0 at the end, after an error and after a cancellation.
  int64_t pull() {
    Block block;
    const bool one = limits_.work_seconds > 0 || out_.steps == 0;
    try {
      const LiveTuner::Asking asking(&tuner_);
      if (!iterator_.next(&block, one ? 1 : limits_.steps - out_.steps)) return 0;
    } catch (const Error& e) {
      if (e.code() != Code::cancelled) throw;
      return 0;
    }
    if (block.errors.empty()) return block.rows;
    out_.error = block.errors[0].error;
    return 0;
  }

  const int64_t start_ = now_ns();
  const ConsumerLimits limits_;
  RunObserver* const observer_;
  const ExactSleeps sleeps_;
  BlockIterator iterator_;
  LiveTuner tuner_;  // destroyed before the run
  ConsumedRun out_;
};

}  // namespace

ConsumedRun consume(const PlanPtr& plan, const RunOptions& options, const Tuning& tuning,
                    const ConsumerLimits& limits, RunObserver* observer) {
  return Consumer(plan, options, tuning, limits, observer).run();
}

}  // namespace penstock
