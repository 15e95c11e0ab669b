#include "runtime/byte_budget.h"

#include <algorithm>
#include <utility>

#include "runtime/scheduler.h"

namespace penstock {

ByteBudget& ByteBudget::process() {
  static auto* budget = new ByteBudget(usable_memory_bytes() / 4 * 3);
  return *budget;
}

void ByteBudget::join(Member* member) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(forks_, fork_count()) != fork_count()) members_.clear();
  members_.push_back(member);
  follow();
}

void ByteBudget::leave(Member* member) {
  const std::lock_guard lock(mutex_);
  std::erase(members_, member);
  follow();
}

void ByteBudget::set_aside(Member* member, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  member->aside_bytes += bytes;
  member->pool->set_budget_bytes(member->share_bytes - member->aside_bytes);
}

void ByteBudget::follow_use() {
  if (count_.load(std::memory_order_relaxed) <= 1) return;
  const std::lock_guard lock(mutex_);
  follow();
}

// With the lock.
void ByteBudget::follow() {
  count_.store(static_cast<int>(members_.size()));
  int64_t whole = bytes_;
  for (const Member* m : members_) whole = std::max(whole, m->most_bytes);
  const int64_t fair = whole / std::max<int64_t>(1, std::ssize(members_));
  const auto counts = [&](const Member& m) {
    return std::max(m.pool->used_bytes() + m.aside_bytes, std::min(fair / 4, m.most_bytes));
  };
  int64_t all = 0;
  for (const Member* m : members_) all += counts(*m);
  for (Member* m : members_) {
    const int64_t left = whole - (all - counts(*m));
    m->share_bytes = std::min(m->most_bytes, std::max(left, fair));
    m->pool->set_budget_bytes(m->share_bytes - m->aside_bytes);
  }
}

}  // namespace penstock
