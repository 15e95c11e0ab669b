#include "base/fork.h"

#include <pthread.h>

#include <thread>

namespace penstock {

// List of all ForkMutexes.
struct ForkMutexes {
  std::mutex mutex;  // protects the list
  ForkMutex* first = nullptr;

  // Never destroyed: mutexes in objects of the process are created and destroyed until it ends.
  static ForkMutexes& all() {
    static ForkMutexes* const mutexes = [] {
      auto* made = new ForkMutexes;
      pthread_atfork([] { all().lock_all(); }, [] { all().unlock_all(); },
                     [] {
                       internal::forks.fetch_add(1, std::memory_order_relaxed);
                       all().unlock_all();
                     });
      return made;
    }();
    return *mutexes;
  }

  // Locks all mutexes or none, and holds none while it waits, so there is no lock order to respect.
  void lock_all() {
    for (;;) {
      mutex.lock();
      ForkMutex* busy = first;
      while (busy && busy->try_lock()) busy = busy->next_;
      if (!busy) return;
      unlock_until(busy);
      std::this_thread::yield();
    }
  }
  void unlock_all() { unlock_until(nullptr); }

  void add(ForkMutex* one) {
    const std::lock_guard lock(mutex);
    one->next_ = first;
    if (first) first->previous_ = one;
    first = one;
  }
  void remove(ForkMutex* one) {
    const std::lock_guard lock(mutex);
    (one->previous_ ? one->previous_->next_ : first) = one->next_;
    if (one->next_) one->next_->previous_ = one->previous_;
  }

 private:
  void unlock_until(ForkMutex* end) {
    for (ForkMutex* m = first; m != end; m = m->next_) m->unlock();
    mutex.unlock();
  }
};

ForkMutex::ForkMutex() { ForkMutexes::all().add(this); }
ForkMutex::~ForkMutex() { ForkMutexes::all().remove(this); }

}  // namespace penstock
