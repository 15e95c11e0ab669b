// How the thread of a run's consumer waits until there may be something for it.
#pragma once

#include <condition_variable>
#include <mutex>

#include "runtime/cursor.h"

namespace penstock {

class MemoryGate;
class Schedule;

class ConsumerWaker final : public Waker {
 public:
  // `schedule`: waiting runs its tasks; null: the pools have threads.
  ConsumerWaker(MemoryGate* gate, Schedule* schedule) : gate_(gate), schedule_(schedule) {}
  void wake() override;
  // Returns true once it has been woken since the last time; false if that has not come until
  // now_ns() is `deadline_ns`.
  bool wait_until(int64_t deadline_ns);

 private:
  bool take_wake();

  MemoryGate* const gate_;
  Schedule* const schedule_;
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
  bool still_ = false;  // the consumer waits, and nobody has woken it yet
};

}  // namespace penstock
