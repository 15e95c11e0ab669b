#include "job/tuner_thread.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fork.h"
#include "base/start_thread.h"
#include "runtime/counters.h"

namespace penstock {
namespace {

constexpr double kNs = 1e9, kFirstSeconds = 0.1;

// Never destroyed: its thread runs as long as the process.
class Tuners {
 public:
  // A forked child has its own: the parent's thread is not there. Null: the system starts none.
  static Tuners* instance() {
    static auto* const mutex = new ForkMutex;
    static Tuners* tuners = nullptr;
    const std::lock_guard lock(*mutex);
    if (tuners && tuners->forks_ == fork_count()) return tuners;
    auto* made = new Tuners(tuners);
    std::thread thread;
    if (!start_thread(&thread, [made] { made->run(); })) {
      delete made;
      return nullptr;
    }
    thread.detach();
    return tuners = made;
  }

  void add(TunerThread::Client* client) {
    const std::lock_guard lock(mutex_);
    entries_.push_back({client, now_ns() + static_cast<int64_t>(kFirstSeconds * kNs)});
    // A run that is over soon wakes nobody: the thread sleeps on to its next look, if there is one.
    if (entries_.back().next_ns < wakes_ns_) changed_.notify_one();
  }
  // Waits for a look under way: it holds the lock.
  void remove(TunerThread::Client* client) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& e) { return e.client == client; });
  }
  int64_t cpu_ns() const { return cpu_ns_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    TunerThread::Client* client;
    int64_t next_ns;
    bool in_use = true;
  };

  explicit Tuners(Tuners* inherited) : inherited_(inherited) {}

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (entries_.empty()) {
        wakes_ns_ = INT64_MAX;
        changed_.wait(lock);
        continue;
      }
      int64_t next = INT64_MAX;
      for (Entry& e : entries_) {
        if (now_ns() >= e.next_ns) {
          e.in_use = true;
          const TunerLook look =
              e.client->tune(static_cast<int>(std::ranges::count(entries_, true, &Entry::in_use)));
          e.in_use = look.in_use;
          e.next_ns =
              now_ns() + static_cast<int64_t>(std::max(kFirstSeconds, look.next_seconds) * kNs);
        }
        next = std::min(next, e.next_ns);
      }
      cpu_ns_.store(thread_cpu_ns(), std::memory_order_relaxed);
      wakes_ns_ = next;
      changed_.wait_for(lock, std::chrono::nanoseconds(std::max<int64_t>(0, next - now_ns())));
    }
  }

  const uint32_t forks_ = fork_count();
  [[maybe_unused]] Tuners* const inherited_;  // left alone
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  int64_t wakes_ns_ = 0;  // when the thread looks again by itself
  std::atomic<int64_t> cpu_ns_{0};
};

}  // namespace

bool TunerThread::add(Client* client) {
  Tuners* tuners = Tuners::instance();
  if (tuners) tuners->add(client);
  return tuners != nullptr;
}

void TunerThread::remove(Client* client) {
  if (Tuners* tuners = Tuners::instance()) tuners->remove(client);
}

int64_t TunerThread::cpu_ns() {
  Tuners* tuners = Tuners::instance();
  return tuners ? tuners->cpu_ns() : 0;
}

}  // namespace penstock
