// Wall time and CPU time of reads and opens of files.
//
// Their difference is what a thread waited: for storage, for a throttle, or for a core. The CPU
// clock is a system call, so it is read around every large read and around those that follow a slow
// one, but only around one other read (small, of the page cache) in kPeriod, drawn at random, which
// then counts for kPeriod of them.
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock {

// Sums of the reads of some threads. Thread-safe.
struct ReadTimes {
  std::atomic<int64_t> wall_ns{0}, cpu_ns{0};
};

// Makes the sums of this thread's reads go to `times`; null counts nothing.
class ScopedReadTimes {
 public:
  explicit ScopedReadTimes(ReadTimes* times) : previous_(current_) { current_ = times; }
  ~ScopedReadTimes() { current_ = previous_; }
  ScopedReadTimes(const ScopedReadTimes&) = delete;
  ScopedReadTimes& operator=(const ScopedReadTimes&) = delete;

  // Returns the sums of this thread's innermost scope; null if there are none.
  static ReadTimes* current() { return current_; }

 private:
  static inline thread_local ReadTimes* current_ = nullptr;
  ReadTimes* const previous_;
};

// Times one read: lives as long as it.
class ReadTimer {
 public:
  static constexpr int64_t kPeriod = 16;
  static constexpr int64_t kSlowNs = 100'000;
  static constexpr int64_t kLargeBytes = 256 << 10;

  explicit ReadTimer(int64_t bytes);
  ~ReadTimer();
  ReadTimer(const ReadTimer&) = delete;
  ReadTimer& operator=(const ReadTimer&) = delete;

 private:
  ReadTimes* const times_;
  int64_t weight_ = 0;  // 0: not timed
  int64_t wall_ns_ = 0, cpu_ns_ = 0;
};

}  // namespace penstock
