// Tells whether the current thread's work is still wanted.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "base/error.h"

namespace penstock {

// Lets the current thread be asked, from inside its work, whether the work is still wanted: where
// the answer is known to this thread alone (handlers of signals in Python). `asked` is called about
// every 50 ms by check_cancelled, which may hold locks of the engine: it must not call into the
// run.
class ScopedInterrupt {
 public:
  explicit ScopedInterrupt(const std::function<bool()>& asked)
      : asked_(asked), previous_(current_) {
    current_ = asked ? this : nullptr;
  }
  ~ScopedInterrupt() { current_ = previous_; }
  ScopedInterrupt(const ScopedInterrupt&) = delete;
  ScopedInterrupt& operator=(const ScopedInterrupt&) = delete;

  // True from the first time on that `asked` said so.
  bool came() const { return came_; }
  static bool requested() { return current_ && current_->ask(); }

  static constexpr int64_t kEveryNs = 50'000'000;

 private:
  using Clock = std::chrono::steady_clock;

  bool ask() {
    if (came_) return true;
    if (Clock::now() < next_) return false;
    came_ = asked_();
    next_ = Clock::now() + std::chrono::nanoseconds(kEveryNs);
    return came_;
  }

  static inline thread_local ScopedInterrupt* current_ = nullptr;
  const std::function<bool()>& asked_;
  Clock::time_point next_ = Clock::now() + std::chrono::nanoseconds(kEveryNs);
  bool came_ = false;
  ScopedInterrupt* previous_;
};

class ScopedCancellation {
 public:
  explicit ScopedCancellation(const std::atomic<bool>* flag) : previous_(current_) {
    current_ = flag;
  }
  ~ScopedCancellation() { current_ = previous_; }
  ScopedCancellation(const ScopedCancellation&) = delete;
  ScopedCancellation& operator=(const ScopedCancellation&) = delete;

  static bool requested() {
    return (current_ && current_->load(std::memory_order_relaxed)) || ScopedInterrupt::requested();
  }

 private:
  static inline thread_local const std::atomic<bool>* current_ = nullptr;
  const std::atomic<bool>* previous_;
};

// Throws CANCELLED if the run was cancelled. Call it between rows of long work.
inline void check_cancelled() {
  if (ScopedCancellation::requested()) throw Error(Code::cancelled, "cancelled");
}

}  // namespace penstock
