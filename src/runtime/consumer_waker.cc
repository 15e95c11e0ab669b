#include "runtime/consumer_waker.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/memory_gate.h"
#include "runtime/schedule.h"

namespace penstock {

void ConsumerWaker::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  if (std::exchange(still_, false)) {
    gate_->go_on();
    gate_->held()->end_wait();
  }
  condition_.notify_one();
}

bool ConsumerWaker::take_wake() {
  const std::lock_guard lock(mutex_);
  return std::exchange(woken_, false);
}

bool ConsumerWaker::wait_until(int64_t deadline_ns) {
  gate_->held()->begin_wait();  // before the lock, which those that are woken may need
  if (schedule_) {
    while (!take_wake()) schedule_->run_one();
    gate_->held()->end_wait();
    return true;
  }
  const int64_t start = now_ns();
  std::unique_lock lock(mutex_);
  if (!woken_) {
    still_ = true;
    gate_->stand_still();
  } else {
    gate_->held()->end_wait();
  }
  const auto woken = [this] { return woken_; };
  if (deadline_ns == INT64_MAX) {
    condition_.wait(lock, woken);
  } else {
    condition_.wait_for(lock, std::chrono::nanoseconds(std::max<int64_t>(0, deadline_ns - start)),
                        woken);
  }
  if (std::exchange(still_, false)) {
    gate_->go_on();
    gate_->held()->end_wait();
  }
  return std::exchange(woken_, false);
}

}  // namespace penstock
