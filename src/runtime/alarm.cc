#include "runtime/alarm.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fork.h"
#include "base/start_thread.h"

namespace penstock {
namespace {

// Never destroyed: its thread runs as long as the process.
class AlarmClock {
 public:
  // A forked child has its own: the thread of the parent's is not there.
  static AlarmClock& instance() {
    static auto* const mutex = new ForkMutex;
    static AlarmClock* clock = nullptr;
    const std::lock_guard lock(*mutex);
    if (!clock || clock->forks_ != fork_count()) clock = new AlarmClock(clock);
    return *clock;
  }

  void set(const Alarm* owner, int64_t deadline_ns, Waker* waker) {
    std::lock_guard lock(mutex_);
    remove(owner);
    entries_.push_back({owner, deadline_ns, waker});
    changed_.notify_one();
  }
  void clear(const Alarm* owner) {
    std::lock_guard lock(mutex_);
    remove(owner);
  }

 private:
  struct Entry {
    const Alarm* owner;
    int64_t deadline_ns;
    Waker* waker;
  };

  explicit AlarmClock(AlarmClock* inherited) : inherited_(inherited) {
    std::thread thread;
    if (!start_thread(&thread, [this] { run(); })) throw no_thread_error("that waits for a time");
    thread.detach();
  }

  void remove(const Alarm* owner) {
    std::erase_if(entries_, [&](const Entry& e) { return e.owner == owner; });
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const int64_t now = now_ns();
      int64_t next = INT64_MAX;
      // Woken with the lock held: behind clear() nobody is.
      std::erase_if(entries_, [&](const Entry& e) {
        if (e.deadline_ns <= now) {
          e.waker->wake();
          return true;
        }
        next = std::min(next, e.deadline_ns);
        return false;
      });
      if (next == INT64_MAX) {
        changed_.wait(lock);
      } else {
        changed_.wait_for(lock, std::chrono::nanoseconds(next - now));
      }
    }
  }

  const uint32_t forks_ = fork_count();
  [[maybe_unused]] AlarmClock* const inherited_;  // left alone
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
};

}  // namespace

void Alarm::set(int64_t deadline_ns, Waker* waker) {
  AlarmClock::instance().set(this, deadline_ns, waker);
  set_ = true;
}

void Alarm::clear() {
  if (set_) AlarmClock::instance().clear(this);
  set_ = false;
}

}  // namespace penstock
