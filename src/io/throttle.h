// Slows storage down, to study slow disks and networks on a fast machine.
//
// A throttle adds a delay to each open and each read, and limits the bandwidth of all reads
// together by one token bucket. Delays of concurrent reads overlap; bandwidth does not. Writes keep
// their speed. A run has one throttle for all file systems it reads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "io/file_system.h"
#include "io/throttle_options.h"

namespace penstock {

// Time as a throttle sees it. Thread-safe.
class WaitClock {
 public:
  virtual ~WaitClock() = default;
  virtual int64_t now_ns() = 0;
  // Blocks until now_ns() has reached `deadline_ns`, or `stopped` returns true; asks it at the
  // start and after each interrupt().
  virtual void wait_until(int64_t deadline_ns, const std::function<bool()>& stopped) = 0;
  virtual void interrupt() = 0;
};
std::unique_ptr<WaitClock> make_real_clock();

// Thread-safe.
class Throttle {
 public:
  explicit Throttle(const ThrottleOptions& options, std::unique_ptr<WaitClock> clock = nullptr);
  ~Throttle();
  Throttle(const Throttle&) = delete;
  Throttle& operator=(const Throttle&) = delete;

  // Returns a file system with the files of `files` and the speed of this throttle. It lives as
  // long as the throttle.
  FileSystem* slowed(FileSystem* files);

  // Each waits, and throws CANCELLED as soon as the thread's work is cancelled
  // (base/cancellation.h) and interrupt() was called.
  void wait_to_open();
  void wait_to_read();
  // Waits until `bytes` have passed at the limited bandwidth. Concurrent streams take turns, so
  // call it for pieces of at most kPiece bytes.
  void wait_for_bytes(int64_t bytes);
  // Reads with a delay gain from others in flight.
  int reads_in_flight() const { return options_.read_ns > 0 ? kReadsInFlight : 1; }
  // Makes all waits look for cancellation.
  void interrupt() { clock_->interrupt(); }

  static constexpr int64_t kPiece = 256 << 10;
  static constexpr int kReadsInFlight = 4;

  // Returns the throttle of this thread's innermost scope; null if there is none.
  static Throttle* current() { return current_; }

 private:
  friend class ScopedThrottle;
  static inline thread_local Throttle* current_ = nullptr;

  void wait(int64_t since_ns, int64_t deadline_ns);

  const ThrottleOptions options_;
  const std::unique_ptr<WaitClock> clock_;
  std::mutex mutex_;
  int64_t free_ns_ = INT64_MIN / 2;  // when the bytes taken so far have passed
  std::map<FileSystem*, std::unique_ptr<FileSystem>> slowed_;
};

// Files opened by this thread have the throttle's speed; null is full speed.
class ScopedThrottle {
 public:
  explicit ScopedThrottle(Throttle* throttle) : previous_(Throttle::current_) {
    Throttle::current_ = throttle;
  }
  ~ScopedThrottle() { Throttle::current_ = previous_; }
  ScopedThrottle(const ScopedThrottle&) = delete;
  ScopedThrottle& operator=(const ScopedThrottle&) = delete;

 private:
  Throttle* const previous_;
};

}  // namespace penstock
