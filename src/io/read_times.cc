#include "io/read_times.h"

#include <ctime>

namespace penstock {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// State of this thread: reads that are left out, and whether the one before was slow.
struct Sampling {
  int64_t skip = 0;
  bool slow = true;
  uint64_t random = 0x9e3779b97f4a7c15;

  // Draws from 0 to 2 * (kPeriod - 1), so that one read in kPeriod is timed on average.
  int64_t draw() {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return static_cast<int64_t>(random % static_cast<uint64_t>(2 * ReadTimer::kPeriod - 1));
  }
};
thread_local Sampling sampling;

}  // namespace

ReadTimer::ReadTimer(int64_t bytes) : times_(ScopedReadTimes::current()) {
  if (!times_) return;
  wall_ns_ = read_clock(CLOCK_MONOTONIC);
  if (bytes >= kLargeBytes || sampling.slow) {
    weight_ = 1;
  } else if (sampling.skip-- <= 0) {
    weight_ = kPeriod;
    sampling.skip = sampling.draw();
  }
  if (weight_ > 0) cpu_ns_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

ReadTimer::~ReadTimer() {
  if (!times_) return;
  const int64_t wall = read_clock(CLOCK_MONOTONIC) - wall_ns_;
  const bool slow = wall >= kSlowNs;
  if (weight_ > 0) {
    const int64_t cpu = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu_ns_;
    const int64_t weight = slow ? 1 : weight_;  // slow reads are all counted
    times_->wall_ns.fetch_add(weight * wall, std::memory_order_relaxed);
    times_->cpu_ns.fetch_add(weight * cpu, std::memory_order_relaxed);
  } else if (slow) {  // small, so its CPU time is small beside its wall time
    times_->wall_ns.fetch_add(wall, std::memory_order_relaxed);
  }
  sampling.slow = slow;
}

}  // namespace penstock
