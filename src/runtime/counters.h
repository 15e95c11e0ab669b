// What each stage did: counters that are always on.
//
// A thread of a run counts in a lane of its own, with plain stores; readers add up the lanes. Time
// is read by the cycle counter where a thread passes from one stage to another, and scaled by the
// thread's CPU clock once a task, so a stage's share excludes its inputs and what the system took
// away. If whole pulls take less than some microseconds, reading the cycle counter would weigh:
// then one pull in many is timed, drawn at random, and counts for all of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

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

inline void add(std::atomic<int64_t>& counter, int64_t n) {
  counter.fetch_add(n, std::memory_order_relaxed);
}

// The counts of one lane.
struct alignas(64) StageCounts {
  std::atomic<int64_t> elements{0};  // rows given, errors included
  std::atomic<int64_t> errors{0};
  std::atomic<int64_t> blocks{0};
  std::atomic<int64_t> bytes{0};          // payload given
  std::atomic<int64_t> busy_ticks{0};     // in the stage itself, inputs excluded
  std::atomic<int64_t> starved_ticks{0};  // it had room and threads, its input had nothing
  std::atomic<int64_t> blocked_ticks{0};  // its output was full
  std::atomic<int64_t> bytes_read{0};     // from storage
  std::atomic<int64_t> files_opened{0};
  // Its user code under a lock that the process has once (penstock/lock_clock.h).
  std::atomic<int64_t> lock_ticks{0};       // CPU time with the lock
  std::atomic<int64_t> lock_wait_ticks{0};  // until the lock was held
};
using StageCount = std::atomic<int64_t> StageCounts::*;

// The lane of this thread: 0 is shared by threads without one.
inline thread_local int counter_lane = 0;

// One stage of a run; shared by all its cursors.
class NodeCounters {
 public:
  // Lanes 1 to lanes - 1 have one thread each.
  explicit NodeCounters(int lanes)
      : lanes_(static_cast<size_t>(lanes - 1)), own_(new std::atomic<StageCounts*>[lanes_] {}) {}
  ~NodeCounters() {
    for (size_t i = 0; i < lanes_; ++i) delete own_[i].load();
  }
  NodeCounters(const NodeCounters&) = delete;
  NodeCounters& operator=(const NodeCounters&) = delete;

  void add(StageCount what, int64_t n) { add_in(counter_lane, what, n); }
  // In a lane that is this thread's, or 0.
  void add_in(int lane, StageCount what, int64_t n) {
    if (lane == 0) {
      (shared_.*what).fetch_add(n, std::memory_order_relaxed);
      return;
    }
    std::atomic<StageCounts*>& own = own_[static_cast<size_t>(lane - 1)];
    StageCounts* counts = own.load(std::memory_order_relaxed);
    if (!counts) own.store(counts = new StageCounts, std::memory_order_release);
    std::atomic<int64_t>& count = counts->*what;
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  // The sum over all lanes. Safe from any thread.
  int64_t total(StageCount what) const {
    int64_t out = (shared_.*what).load(std::memory_order_relaxed);
    for (size_t i = 0; i < lanes_; ++i) {
      if (const StageCounts* counts = own_[i].load(std::memory_order_acquire))
        out += (counts->*what).load(std::memory_order_relaxed);
    }
    return out;
  }

 private:
  const size_t lanes_;  // besides the shared one
  StageCounts shared_;
  std::unique_ptr<std::atomic<StageCounts*>[]> own_;  // each made by its thread
};

// Decides which pulls of this thread are timed. A pull here is what the thread does for the stage
// that it enters first.
struct PullClock {
  static constexpr uint64_t kCheapTicks = 20'000;
  static constexpr int kSteadyPulls = 32;  // cheap ones in a row, before some are left out
  static constexpr int kManyStages = 64;   // entered in one pull: it is not cheap after all
  static constexpr int64_t kMostPeriod = 64;

  NodeCounters* current = nullptr;
  int lane = 0;        // in which the current stage counts
  uint64_t mark = 0;   // when the current stage was entered, or left by its input
  uint64_t start = 0;  // of the pull
  int depth = 0;
  int entered = 0;
  int cheap_pulls = 0;
  int64_t weight = 1;  // what a tick of this pull counts for; 0: it is not timed
  int64_t period = 1;  // one pull in `period` is timed
  int64_t skip = 0;    // pulls before the next that is
  uint64_t random = 0x9e3779b97f4a7c15;

  void begin() {
    entered = 0;
    weight = skip > 0 ? 0 : period;
    if (skip > 0) --skip;
  }
  // After a timed pull.
  void end(uint64_t now) {
    const uint64_t spent = now - start;
    cheap_pulls = spent < kCheapTicks ? cheap_pulls + 1 : 0;
    period = skip = 0;
    if (cheap_pulls >= kSteadyPulls)
      period = std::min<int64_t>(kMostPeriod, static_cast<int64_t>(kCheapTicks / (spent + 1)));
    if (period <= 1) {
      period = 1;
      return;
    }
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    skip = static_cast<int64_t>(random % static_cast<uint64_t>(2 * period - 1));
  }
};
inline thread_local PullClock pull_clock;

// The stage this thread works for. Entering one stops the clock of the one before.
class StageClock {
 public:
  explicit StageClock(NodeCounters* node)
      : previous_(pull_clock.current), node_(node), previous_lane_(pull_clock.lane) {
    if (!previous_ && !node_) return;
    PullClock& clock = pull_clock;
    if (clock.depth++ == 0) clock.begin();
    clock.current = node_;
    clock.lane = counter_lane;
    const bool late = clock.weight == 0;
    if (late && ++clock.entered < PullClock::kManyStages) return;
    const uint64_t now = ticks();
    if (late) {
      clock.weight = 1;
    } else if (previous_) {
      previous_->add_in(previous_lane_, &StageCounts::busy_ticks,
                        clock.weight * static_cast<int64_t>(now - clock.mark));
    }
    if (late || clock.depth == 1) clock.start = now;
    clock.mark = now;
  }
  ~StageClock() {
    if (!previous_ && !node_) return;
    PullClock& clock = pull_clock;
    clock.current = previous_;
    clock.lane = previous_lane_;
    --clock.depth;
    if (clock.weight == 0) return;
    const uint64_t now = ticks();
    if (node_) {
      node_->add(&StageCounts::busy_ticks, clock.weight * static_cast<int64_t>(now - clock.mark));
    }
    clock.mark = now;
    if (clock.depth == 0) clock.end(now);
  }
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

 private:
  NodeCounters* previous_;
  NodeCounters* node_;
  int previous_lane_;
};

}  // namespace penstock
