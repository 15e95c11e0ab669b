#include "job/live_tuner.h"

#include <algorithm>
#include <mutex>

#include "base/fork.h"
#include "job/run_view.h"
#include "job/tuner_thread.h"

namespace penstock {

struct LiveTuner::State final : TunerThread::Client {
  State(LiveTuner* owner, Run* run, const Tuning& tuning)
      : tuner(owner), view(run, tuning.filled), policy(live_policy()) {}

  double tune(int runs) override {
    const int64_t since = tuner->asking_since_.load(std::memory_order_relaxed);
    const int64_t asked = tuner->asked_ns_.load(std::memory_order_relaxed);
    const int64_t asking = since > 0 ? std::max<int64_t>(0, now_ns() - since) : 0;
    const TunerView now = view.read(static_cast<double>(asked + asking) * 1e-9, runs);
    const std::lock_guard lock(mutex);
    for (const TunerMove& move : policy->decide(now)) view.move(move);
    return policy->next_seconds();
  }

  LiveTuner* const tuner;
  const uint32_t forks = fork_count();
  RunView view;
  mutable std::mutex mutex;  // protects the policy
  std::unique_ptr<TunerPolicy> policy;
};

LiveTuner::LiveTuner(Run* run, const Tuning& tuning) {
  if (!tuning.live || !run->options().count || run->schedule() || run->options().latency) return;
  state_ = std::make_unique<State>(this, run, tuning);
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
  return state_->policy->decisions();
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
