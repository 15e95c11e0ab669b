#include "penstock/lock_clock.h"

#include <algorithm>

#include "runtime/counters.h"

namespace penstock {
namespace {

// Reading a thread's CPU clock takes some 200 ns, so calls shorter than this are sampled.
constexpr int64_t kCheapNs = 20'000;
constexpr int64_t kMostPeriod = 64;

struct Sampling {
  int64_t period = 1;  // one call in `period` is timed
  int64_t skip = 0;    // calls before the next that is
  uint64_t random = 0x9e3779b97f4a7c15;

  int64_t next_weight() {
    if (skip == 0) return period;
    --skip;
    return 0;
  }
  void timed(int64_t spent_ns) {
    period = std::clamp<int64_t>(kCheapNs / (spent_ns + 1), 1, kMostPeriod);
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    skip = static_cast<int64_t>(random % static_cast<uint64_t>(2 * period - 1));
  }
};
thread_local Sampling sampling;

int64_t to_ticks(int64_t ns) {
  return static_cast<int64_t>(static_cast<double>(ns) / ns_per_tick());
}

}  // namespace

LockClock::LockClock() : weight_(pull_clock.current ? sampling.next_weight() : 0) {
  if (weight_ > 0) start_ns_ = now_ns();
}

void LockClock::held() {
  if (weight_ == 0) return;
  held_ns_ = now_ns();
  cpu_ns_ = thread_cpu_ns();
}

LockClock::~LockClock() {
  if (weight_ == 0 || held_ns_ == 0) return;
  const int64_t cpu_ns = thread_cpu_ns() - cpu_ns_;
  if (NodeCounters* const node = pull_clock.current) {
    node->add(&StageCounts::lock_ticks, weight_ * to_ticks(cpu_ns));
    node->add(&StageCounts::lock_wait_ticks, weight_ * to_ticks(held_ns_ - start_ns_));
  }
  sampling.timed(now_ns() - start_ns_);
}

}  // namespace penstock
