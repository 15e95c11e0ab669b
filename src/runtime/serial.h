// Pipelines that a function runs for a row: its thread does all their work.
#pragma once

namespace penstock {

// While it lives, what this thread opens starts no work on the CPU pool: the thread may be one of
// the pool's, and the work that it waits for must not need another.
class ScopedSerial {
 public:
  ScopedSerial();
  ~ScopedSerial();
  ScopedSerial(const ScopedSerial&) = delete;
  ScopedSerial& operator=(const ScopedSerial&) = delete;

 private:
  bool before_;
};

bool is_serial();

}  // namespace penstock
