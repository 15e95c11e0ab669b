// Counts what a thread reads from storage on behalf of a stage.
#pragma once

#include <cstdint>

namespace penstock {

// Receives every open and read of File on the threads of its scopes. Thread-safe.
class ReadCounter {
 public:
  virtual ~ReadCounter() = default;
  virtual void opened() = 0;
  virtual void read(int64_t bytes) = 0;
  // The thread waited for storage that is slowed down (io/throttle.h).
  virtual void waited(int64_t ns) = 0;

  // Returns the counter of this thread's innermost scope; null if there is none.
  static ReadCounter* current() { return current_; }

 private:
  friend class ScopedReadCounter;
  static inline thread_local ReadCounter* current_ = nullptr;
};

// Makes a counter the current one of this thread; null counts nothing.
class ScopedReadCounter {
 public:
  explicit ScopedReadCounter(ReadCounter* counter) : previous_(ReadCounter::current_) {
    ReadCounter::current_ = counter;
  }
  ~ScopedReadCounter() { ReadCounter::current_ = previous_; }
  ScopedReadCounter(const ScopedReadCounter&) = delete;
  ScopedReadCounter& operator=(const ScopedReadCounter&) = delete;

 private:
  ReadCounter* const previous_;
};

}  // namespace penstock
