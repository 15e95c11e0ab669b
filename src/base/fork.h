// Rules for state that a forked child inherits.
//
// A child has one thread: the one that forked. A lock that another thread held stays locked in the
// child, and the other thread's unfinished work stays unfinished. Therefore ForkMutex guards state
// that lives longer than a run; it is free in the child. The child leaves inherited runs alone,
// because their threads do not exist there: fork_count identifies them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace penstock {

// A mutex for which fork waits, so that the state it guards is consistent in the child. Hold it for
// a moment only and run no user code under it: a fork inside would wait for itself.
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

// Returns the number of forks between the process that made the first ForkMutex and this one. An
// object made under another number is inherited. Costs no system call.
inline uint32_t fork_count() { return internal::forks.load(std::memory_order_relaxed); }

}  // namespace penstock
