// Stages that do no work ahead until the consumer gives a batch back.
//
// A batch buffer of 77 MB that waits costs more than the work that could be done meanwhile. So a
// stage that fills such buffers begins another one only when fewer than BatchPlaces::most() are in
// use, the consumer's among them. It is held until one is released, or until the consumer waits for
// what nothing but another buffer can bring: it may keep as many as it likes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "runtime/cursor.h"

namespace penstock {

// One for each run; buffers may outlive it. Thread-safe. wake() of a stage is called without a
// lock.
class HeldStages {
 public:
  // Wakes the stage, once, when a buffer has been released or the consumer begins to wait. Returns
  // true if the consumer waits now.
  bool hold(Waker* stage);
  // Afterwards the stage is not woken. The caller must not hold a lock that its wake() needs.
  void remove(Waker* stage);
  // Wakes all that are held.
  void wake();
  // A consumer waits, from begin_wait to end_wait. There may be several: stages that read other
  // datasets to their end.
  void begin_wait();
  void end_wait() { consumers_.fetch_sub(1); }

 private:
  std::mutex mutex_;
  std::condition_variable woken_;
  std::vector<Waker*> held_;
  int waking_ = 0;  // calls of wake that have not come back
  std::atomic<int> consumers_{0};
};

}  // namespace penstock
