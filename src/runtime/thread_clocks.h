// The system's counts for the threads of a run: CPU time, and time in the run queue.
//
// A thread that could run but waits for a core is descheduled. The kernel counts that time for each
// thread (/proc/self/task/TID/schedstat). It is read when somebody asks for the sums, so counting
// costs a run nothing.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "io/read_times.h"

namespace penstock {

enum class ThreadKind : uint8_t { consumer, compute, io };
inline constexpr int kThreadKinds = 3;

struct ThreadTimes {
  int64_t threads = 0;
  int64_t cpu_ns = 0;
  std::optional<int64_t> descheduled_ns;  // empty if the system does not say
};

// Thread-safe. Threads of the pools end after the last call of times().
class ThreadClocks {
 public:
  // The calling thread, which is new, works for the run from now on.
  void join(ThreadKind kind);
  // The calling thread consumes. Cheap if it is the one that did so before.
  void consume() {
    const uint64_t here = this_thread();
    if (here != consumer_.load(std::memory_order_relaxed)) change_consumer(here);
  }
  // Sums over the threads of a kind since they began to work for the run. A consumer counts with
  // its own work; unknown if many threads consume in turn.
  ThreadTimes times(ThreadKind kind) const;
  // Sums of the reads of those threads.
  ReadTimes* reads(ThreadKind kind) { return &reads_[static_cast<size_t>(kind)]; }
  const ReadTimes& reads(ThreadKind kind) const { return reads_[static_cast<size_t>(kind)]; }

 private:
  struct Thread {
    ThreadKind kind = ThreadKind::consumer;
    int64_t id = 0;
    ThreadTimes before;  // it joined
  };
  static constexpr int kMostConsumers = 8;

  static uint64_t this_thread();
  void change_consumer(uint64_t here);

  std::atomic<uint64_t> consumer_{0};
  mutable std::mutex mutex_;
  std::vector<Thread> threads_;  // of the pools, and the consumer's last
  ThreadTimes past_consumers_;   // threads that no longer consume
  int consumers_ = 0;
  ReadTimes reads_[kThreadKinds];
};

// Returns the CPU time that all programs together have taken of the cores that this process may
// use, since the system started, including time that a hypervisor took away; empty if the system
// does not say. Counts in steps of 10 ms.
std::optional<double> cores_busy_seconds();

}  // namespace penstock
