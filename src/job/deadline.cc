#include "job/deadline.h"

namespace penstock {

void Deadline::set(double seconds) {
  constexpr double kForever = 1e9;
  constexpr int64_t kGraceNs = 500'000'000;
  alarm_.clear();
  at_ns_ = INT64_MAX;
  if (seconds >= kForever) return;
  at_ns_ = now_ns() + static_cast<int64_t>(seconds * 1e9);
  try {
    alarm_.set(at_ns_ + kGraceNs, this);
  } catch (const Error&) {
    // Without a timer thread the consumer checks the time between two elements.
  }
}

void Deadline::wake() {
  passed_ = true;
  iterator_->cancel();
}

}  // namespace penstock
