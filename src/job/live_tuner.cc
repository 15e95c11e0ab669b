#include "job/live_tuner.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "job/run_view.h"
#include "job/tuner_thread.h"

namespace penstock {

struct LiveTuner::State final : TunerThread::Client {
  State(LiveTuner* owner, Run* tuned, const FilledNodes& ours)
      : tuner(owner), run(tuned), filled(ours) {}

  TunerLook tune(int runs) override {
    const int64_t since = tuner->asking_since_.load(std::memory_order_relaxed);
    const int64_t asked = tuner->asked_ns_.load(std::memory_order_relaxed);
    const int64_t asking = since > 0 ? std::max<int64_t>(0, now_ns() - since) : 0;
    const bool in_use = std::exchange(seen_ns, asked + asking) != asked + asking;
    if (!view) view.emplace(run, filled);
    const TunerView now = view->read(static_cast<double>(asked + asking) * 1e-9, runs);
    const std::lock_guard lock(mutex);
    if (!policy) policy = live_policy();
    for (const TunerMove& move : policy->decide(now)) view->move(move);
    return {policy->next_seconds(), in_use};
  }

  LiveTuner* const tuner;
  const uint32_t forks = fork_count();
  Run* const run;
  const FilledNodes filled;
  // Made at the first look, so that short runs pay for neither.
  std::optional<RunView> view;
  mutable std::mutex mutex;  // protects the policy
  std::unique_ptr<TunerPolicy> policy;
  int64_t seen_ns = 0;  // time of the consumer's asking at the last look
};

LiveTuner::LiveTuner(Run* run, const Tuning& tuning) {
  if (!tuning.live || !run->options().count || run->schedule() || run->options().latency) return;
  state_ = std::make_unique<State>(this, run, tuning.filled);
  if (TunerThread::add(state_.get())) return;
  state_.reset();
  run->note("the system starts no thread for the live tuner; knobs stay as they are");
}

LiveTuner::~LiveTuner() {
  if (!state_) return;
  // The thread that knows an inherited run is in the other process.
  if (state_->forks == fork_count()) TunerThread::remove(state_.get());
}

std::optional<std::vector<TunerDecision>> LiveTuner::decisions() const {
  if (!state_) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->policy ? state_->policy->decisions() : std::vector<TunerDecision>();
}

double LiveTuner::thread_cpu_seconds() { return static_cast<double>(TunerThread::cpu_ns()) * 1e-9; }

LiveTuner::Asking::Asking(LiveTuner* tuner) : tuner_(tuner->is_live() ? tuner : nullptr) {
  if (tuner_) tuner_->asking_since_.store(now_ns(), std::memory_order_relaxed);
}

LiveTuner::Asking::~Asking() {
  if (!tuner_) return;
  const int64_t since = tuner_->asking_since_.exchange(0, std::memory_order_relaxed);
  add(tuner_->asked_ns_, now_ns() - since);
}

}  // namespace penstock
