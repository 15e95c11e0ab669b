// Accounts for a lock under which user code runs.
#pragma once

#include <cstdint>

namespace penstock {

// Times one call of user code under a lock that the process has once, such as an interpreter's, and
// counts it for the stage that makes the call: `explain` then knows the lock as a resource that
// serves one thread at a time.
//
//     LockClock clock;
//     const std::lock_guard lock(interpreter);
//     clock.held();
//     ...
//
// Used by the thread that calls the code, from within an op or a source. Of short calls one in many
// is timed, drawn at random, and counts for all of them; the others cost some nanoseconds.
class LockClock {
 public:
  LockClock();   // before the lock is asked for
  void held();   // when the thread has it
  ~LockClock();  // at the end of the call
  LockClock(const LockClock&) = delete;
  LockClock& operator=(const LockClock&) = delete;

 private:
  int64_t weight_;  // calls that this one stands for; 0: it is not timed
  int64_t start_ns_ = 0, held_ns_ = 0, cpu_ns_ = 0;
};

}  // namespace penstock
