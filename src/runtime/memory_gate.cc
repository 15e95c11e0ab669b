#include "runtime/memory_gate.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "data/buffer.h"
#include "runtime/byte_budget.h"
#include "runtime/scheduler.h"

namespace penstock {

// A thread that waits is at work for nobody: its pool may run another.
class MemoryGate::Standstill {
 public:
  Standstill() : pool_(ThreadPool::current()) {
    if (pool_) pool_->stand_still();
  }
  ~Standstill() {
    if (pool_) pool_->go_on();
  }
  Standstill(const Standstill&) = delete;
  Standstill& operator=(const Standstill&) = delete;

  // Without a thread to replace this one, those that could give memory back may never run.
  bool is_safe() const { return !pool_ || !pool_->is_short_of_threads(); }

 private:
  ThreadPool* const pool_;
};

bool MemoryGate::wait_for_room(const BufferPool& pool, int64_t bytes) {
  if (&pool != pool_ || bytes > most_bytes_) return false;
  Waiter waiter{ThreadPool::current_priority(), bytes, room_state().repeatable, false};
  wait(&waiter);
  if (waiter.outcome == Outcome::give_way) room_state().gave_way = true;
  return waiter.outcome == Outcome::go_on;
}

void MemoryGate::wait_for_turn(int64_t bytes) {
  Waiter waiter{ThreadPool::current_priority(), bytes, false, true};
  wait(&waiter);
}

void MemoryGate::wait(Waiter* waiter) {
  constexpr std::chrono::milliseconds kLook{2};
  const Standstill standstill;
  std::unique_lock lock(mutex_);
  waiter->number = waited_++;
  waiters_.push_back(waiter);
  waiting_.store(static_cast<int64_t>(waiters_.size()), std::memory_order_relaxed);
  stand_still();
  while (waiter->outcome == Outcome::none && !cancelled_->load(std::memory_order_relaxed)) {
    ByteBudget::process().follow_use();
    if (!standstill.is_safe()) {
      decide(waiter, Outcome::fail);
    } else if (!is_first(*waiter)) {
      changed_.wait_for(lock, kLook);
    } else if (fits(*waiter)) {
      decide(waiter, Outcome::go_on);
    } else if (at_work_.load() > 0) {
      changed_.wait_for(lock, kLook);
    } else {
      help(waiter);
    }
  }
  std::erase(waiters_, waiter);
  waiting_.store(static_cast<int64_t>(waiters_.size()), std::memory_order_relaxed);
  changed_.notify_all();  // another is the first now
  if (waiter->outcome != Outcome::none) return;
  go_on();
  throw Error(Code::cancelled, "cancelled");
}

void MemoryGate::decide(Waiter* waiter, Outcome outcome) {
  waiter->outcome = outcome;
  go_on();  // on its behalf: it counts from now on
  changed_.notify_all();
}

bool MemoryGate::comes_before(const Waiter& a, const Waiter& b) {
  return a.priority != b.priority ? a.priority < b.priority : a.number < b.number;
}

bool MemoryGate::is_first(const Waiter& waiter) const {
  return std::ranges::none_of(waiters_, [&](const Waiter* other) {
    return other != &waiter && comes_before(*other, waiter);
  });
}

bool MemoryGate::fits(const Waiter& waiter) const {
  return pool_->budget_bytes() - pool_->used_bytes() >= waiter.bytes;
}

void MemoryGate::help(Waiter* first) {
  if (first->holds_nothing) return decide(first, Outcome::go_on);
  Waiter* ahead = nullptr;
  for (Waiter* w : waiters_) {
    if (w != first && w->repeatable && (!ahead || comes_before(*ahead, *w))) ahead = w;
  }
  if (ahead) return decide(ahead, Outcome::give_way);
  for (const bool costly : {false, true}) {
    for (Spare* spare : spares_) {
      if (spare->is_costly() == costly && spare->give_up()) return;
    }
  }
  constexpr int kMostTries = 200;
  for (Waiter* w : waiters_) {
    if (w == first || !(w->holds_nothing || fits(*w))) continue;
    if (++first->let_others_go > kMostTries) break;
    return decide(w, Outcome::go_on);
  }
  decide(first, Outcome::fail);
}

void MemoryGate::add(Spare* spare) {
  const std::lock_guard lock(mutex_);
  spares_.push_back(spare);
}

void MemoryGate::remove(Spare* spare) {
  const std::lock_guard lock(mutex_);
  std::erase(spares_, spare);
}

}  // namespace penstock
