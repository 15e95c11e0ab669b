// Time limit of a run.
#pragma once

#include <atomic>

#include "runtime/alarm.h"
#include "runtime/run.h"

namespace penstock {

// Lets the consumer check the time between two elements. Cancels a run that returns no element for
// another half second: a moderately slow element still counts, and one that never comes does not
// block the program.
class Deadline final : private Waker {
 public:
  Deadline(BlockIterator* iterator, double seconds) : iterator_(iterator) { set(seconds); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Restarts the limit: `seconds` from now.
  void set(double seconds);
  bool passed() const { return passed_ || now_ns() >= at_ns_; }

 private:
  void wake() override;

  BlockIterator* const iterator_;
  int64_t at_ns_ = INT64_MAX;
  std::atomic<bool> passed_{false};
  Alarm alarm_;  // last member: destroyed first, so that it never wakes a destroyed object
};

}  // namespace penstock
