#include "runtime/held_stages.h"

#include <algorithm>

namespace penstock {

bool HeldStages::hold(Waker* stage) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(held_, stage) == held_.end()) held_.push_back(stage);
  return consumers_.load() > 0;
}

void HeldStages::remove(Waker* stage) {
  std::unique_lock lock(mutex_);
  std::erase(held_, stage);
  woken_.wait(lock, [this] { return waking_ == 0; });
}

void HeldStages::wake() {
  std::vector<Waker*> stages;
  {
    const std::lock_guard lock(mutex_);
    if (held_.empty()) return;
    stages.swap(held_);
    ++waking_;
  }
  for (Waker* stage : stages) stage->wake();
  const std::lock_guard lock(mutex_);
  --waking_;
  woken_.notify_all();
}

// The count goes first: a stage that comes too late to be woken sees it.
void HeldStages::begin_wait() {
  consumers_.fetch_add(1);
  wake();
}

}  // namespace penstock
