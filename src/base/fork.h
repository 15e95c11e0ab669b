// What a forked child inherits, and what it may not touch.
//
// A child has one thread: the one that forked. Whatever another thread held locked stays locked in
// it, and nobody finishes what the others were at. So state that lives longer than a run is guarded
// by ForkMutex, which is free in the child, and runs, which have threads, are left alone there:
// fork_count tells which ones are inherited.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace penstock {

// A mutex that fork waits for, so that what it guards is whole in the child. Hold it for a moment
// only, and run no code of users meanwhile: a fork in it would wait for itself.
class ForkMutex {
 public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkMutexes;
  std::mutex mutex_;
  ForkMutex* previous_ = nullptr;
  ForkMutex* next_ = nullptr;
};

namespace internal {
inline std::atomic<uint32_t> forks{0};
}

// Forks between the process that made the first ForkMutex and this one: an object made under
// another number is inherited. Costs no system call.
inline uint32_t fork_count() { return internal::forks.load(std::memory_order_relaxed); }

}  // namespace penstock
