#include "runtime/core_budget.h"

#include <algorithm>
#include <utility>

#include "runtime/scheduler.h"

namespace penstock {

CoreBudget& CoreBudget::process() {
  static auto* budget = new CoreBudget(usable_cores());
  return *budget;
}

void CoreBudget::join(Member* member, int threads) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(forks_, fork_count()) != fork_count()) {
    members_.clear();
    telling_ = 0;
  }
  member->threads_ = threads;
  members_.push_back(member);
  count_.store(static_cast<int>(members_.size()));
}

void CoreBudget::leave(Member* member) {
  std::unique_lock lock(mutex_);
  std::erase(members_, member);
  count_.store(static_cast<int>(members_.size()));
  told_.wait(lock, [this] { return telling_ == 0 || forks_ != fork_count(); });
}

bool CoreBudget::take(Member* member) {
  if (count_.load() <= 1) {
    member->taken_.fetch_add(1);
    return true;
  }
  const std::lock_guard lock(mutex_);
  int cores = cores_, taken = 0;
  for (const Member* m : members_) {
    cores = std::max(cores, m->threads_);
    taken += m->taken_.load();
  }
  const int share = std::max(1, cores / static_cast<int>(members_.size()));
  if (member->taken_.load() >= share && taken >= cores) {
    member->refused_ = true;
    return false;
  }
  member->taken_.fetch_add(1);
  return true;
}

void CoreBudget::give_back(Member* member) {
  member->taken_.fetch_sub(1);
  if (count_.load() <= 1) return;
  std::vector<Member*> refused;
  {
    const std::lock_guard lock(mutex_);
    for (Member* m : members_) {
      if (m->refused_) refused.push_back(m);
      m->refused_ = false;
    }
    if (refused.empty()) return;
    ++telling_;
  }
  for (Member* m : refused) m->core_came();
  const std::lock_guard lock(mutex_);
  if (--telling_ == 0) told_.notify_all();
}

}  // namespace penstock
