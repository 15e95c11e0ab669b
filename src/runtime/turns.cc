#include "runtime/turns.h"

namespace penstock {

bool Turns::take(const std::weak_ptr<Waiter>& waiter, bool urgent) {
  const std::lock_guard lock(mutex_);
  if (urgent || taken_ < calls_->get()) {
    ++taken_;
    return true;
  }
  const auto same = [&](const std::weak_ptr<Waiter>& w) {
    return !w.owner_before(waiter) && !waiter.owner_before(w);
  };
  if (std::ranges::none_of(waiting_, same)) waiting_.push_back(waiter);
  return false;
}

std::shared_ptr<Turns::Waiter> Turns::next() {
  const std::lock_guard lock(mutex_);
  if (taken_ >= calls_->get()) return nullptr;
  std::shared_ptr<Waiter> out;
  while (!out && !waiting_.empty()) {
    out = waiting_.front().lock();
    waiting_.pop_front();
  }
  return out;
}

void Turns::give_back() {
  {
    const std::lock_guard lock(mutex_);
    --taken_;
  }
  while (const std::shared_ptr<Waiter> waiter = next()) {
    if (waiter->turn_came()) return;
  }
}

}  // namespace penstock
