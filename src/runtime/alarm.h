// Wakes somebody at a time.
#pragma once

#include <cstdint>

#include "runtime/cursor.h"

namespace penstock {

// One thread of the process, started with the first alarm, serves all of them. Not thread-safe.
class Alarm {
 public:
  Alarm() = default;
  ~Alarm() { clear(); }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Wakes `waker` once now_ns() has come to `deadline_ns`, instead of what was set before. Throws
  // RESOURCE_EXHAUSTED if the system starts no thread.
  void set(int64_t deadline_ns, Waker* waker);
  // Behind this nobody is woken.
  void clear();

 private:
  bool set_ = false;
};

}  // namespace penstock
