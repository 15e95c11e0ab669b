// The time that a run may take.
#pragma once

#include <atomic>

#include "runtime/alarm.h"
#include "runtime/run.h"

namespace penstock::cli {

// The consumer asks between two elements whether the time is over. A run that gives none for half a
// second more is cancelled: an element that takes moderately long still counts, and one that never
// comes does not hold the run.
class Deadline final : private Waker {
 public:
  Deadline(BlockIterator* iterator, double seconds) : iterator_(iterator) { set(seconds); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Starts anew: `seconds` from now.
  void set(double seconds);
  bool passed() const { return passed_ || now_ns() >= at_ns_; }

 private:
  void wake() override;

  BlockIterator* const iterator_;
  int64_t at_ns_ = INT64_MAX;
  std::atomic<bool> passed_{false};
  Alarm alarm_;  // last: nobody is woken after it is gone
};

}  // namespace penstock::cli
