// What each stage did: counters that are always on.
//
// Time is read by the cycle counter where a thread passes from one stage to another, and scaled by
// the thread's CPU clock once a task, so a stage's share excludes its inputs and what the system
// took away.
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock {

// Cycle counter ticks and what they are worth.
inline uint64_t ticks() {
#if defined(__x86_64__)
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t{high} << 32) | low;
#else
  extern uint64_t monotonic_ticks();
  return monotonic_ticks();
#endif
}
double ns_per_tick();     // measured once, at the first call
int64_t thread_cpu_ns();  // a system call: once a task at most
int64_t now_ns();         // monotonic

// One stage of a run; shared by all its cursors. Written with relaxed atomics.
struct NodeCounters {
  std::atomic<int64_t> elements{0};  // rows given, errors included
  std::atomic<int64_t> errors{0};
  std::atomic<int64_t> blocks{0};
  std::atomic<int64_t> bytes{0};          // payload given
  std::atomic<int64_t> busy_ticks{0};     // in the stage itself, inputs excluded
  std::atomic<int64_t> starved_ticks{0};  // it had room and threads, its input had nothing
  std::atomic<int64_t> blocked_ticks{0};  // its output was full
  std::atomic<int64_t> bytes_read{0};     // from storage
  std::atomic<int64_t> files_opened{0};
};

inline void add(std::atomic<int64_t>& counter, int64_t n) {
  counter.fetch_add(n, std::memory_order_relaxed);
}

// The stage this thread works for. Entering one stops the clock of the one before.
class StageClock {
 public:
  explicit StageClock(NodeCounters* node) : previous_(current_), node_(node) {
    if (!previous_ && !node_) return;
    const uint64_t now = ticks();
    if (previous_) add(previous_->busy_ticks, static_cast<int64_t>(now - mark_));
    mark_ = now;
    current_ = node_;
  }
  ~StageClock() {
    if (!previous_ && !node_) return;
    const uint64_t now = ticks();
    if (node_) add(node_->busy_ticks, static_cast<int64_t>(now - mark_));
    mark_ = now;
    current_ = previous_;
  }
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

 private:
  static inline thread_local NodeCounters* current_ = nullptr;
  static inline thread_local uint64_t mark_ = 0;
  NodeCounters* previous_;
  NodeCounters* node_;
};

}  // namespace penstock
