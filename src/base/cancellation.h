// Tells whether the current thread's work is still wanted.
#pragma once

#include <atomic>

#include "base/error.h"

namespace penstock {

class ScopedCancellation {
 public:
  explicit ScopedCancellation(const std::atomic<bool>* flag) : previous_(current_) {
    current_ = flag;
  }
  ~ScopedCancellation() { current_ = previous_; }
  ScopedCancellation(const ScopedCancellation&) = delete;
  ScopedCancellation& operator=(const ScopedCancellation&) = delete;

  static bool requested() { return current_ && current_->load(std::memory_order_relaxed); }

 private:
  static inline thread_local const std::atomic<bool>* current_ = nullptr;
  const std::atomic<bool>* previous_;
};

// Throws CANCELLED if the run was cancelled. Call it between rows of long work.
inline void check_cancelled() {
  if (ScopedCancellation::requested()) throw Error(Code::cancelled, "cancelled");
}

}  // namespace penstock
