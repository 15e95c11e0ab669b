// The cores of the process, shared by the CPU pools of its runs.
//
// A pool that is alone uses as many threads as it was made with. Beside others it may always use
// its fair share of the cores, and more while not all cores are taken; it keeps what it has
// borrowed until the task ends. Consumers' threads are not counted.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/fork.h"

namespace penstock {

class CoreBudget {
 public:
  // A pool of threads.
  class Member {
   public:
    virtual ~Member() = default;
    // A core has become free that was refused before. Called without locks of the budget.
    virtual void core_came() = 0;

   private:
    friend class CoreBudget;
    int threads_ = 0;
    std::atomic<int> taken_{0};
    bool refused_ = false;
  };

  // `cores` may be exceeded by a member that was made with more threads.
  explicit CoreBudget(int cores) : cores_(cores) {}
  static CoreBudget& process();

  void join(Member* member, int threads);
  // Returns when nobody calls the member any more.
  void leave(Member* member);

  // Returns whether the member may use one more core now; if not, core_came is called later.
  bool take(Member* member);
  // Takes one without asking.
  static void take_anyway(Member* member) { member->taken_.fetch_add(1); }
  // Call without locks that core_came takes.
  void give_back(Member* member);

 private:
  const int cores_;
  std::atomic<int> count_{0};  // of members
  ForkMutex mutex_;
  std::condition_variable_any told_;
  std::vector<Member*> members_;
  int telling_ = 0;
  uint32_t forks_ = fork_count();  // a child has none of its parent's pools
};

}  // namespace penstock
