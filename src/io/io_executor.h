// Runs functions on threads that may wait for storage.
#pragma once

#include <functional>

namespace penstock {

class IoExecutor {
 public:
  virtual ~IoExecutor() = default;
  // Calls `work` soon on a thread of its own choice, or drops it if the run ends before. Nobody may
  // wait for work that has not begun: all threads could be waiting.
  virtual void submit(std::function<void()> work) = 0;

  // Returns the executor of this thread's innermost scope; null if there is none.
  static IoExecutor* current() { return current_; }

 private:
  friend class ScopedIoExecutor;
  static inline thread_local IoExecutor* current_ = nullptr;
};

// Makes an executor the current one of this thread.
class ScopedIoExecutor {
 public:
  explicit ScopedIoExecutor(IoExecutor* executor) : previous_(IoExecutor::current_) {
    IoExecutor::current_ = executor;
  }
  ~ScopedIoExecutor() { IoExecutor::current_ = previous_; }
  ScopedIoExecutor(const ScopedIoExecutor&) = delete;
  ScopedIoExecutor& operator=(const ScopedIoExecutor&) = delete;

 private:
  IoExecutor* const previous_;
};

}  // namespace penstock
