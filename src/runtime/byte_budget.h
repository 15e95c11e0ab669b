// The memory of the process, shared by its runs.
//
// A run may use what it was given (--memory), and no more than the others leave: each of those
// counts with what it uses now, and with a quarter of its fair share at least. A run may use its
// fair share even if others, which came first, leave less: their work ahead then stops until they
// are back within theirs. Shares follow the use while runs go
// on.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/fork.h"
#include "data/buffer.h"

namespace penstock {

class ByteBudget {
 public:
  // A run.
  struct Member {
    BufferPool* pool = nullptr;  // its budget is what the run may use
    int64_t most_bytes = 0;      // that it was given
    int64_t aside_bytes = 0;     // held for it outside of the pool
    int64_t share_bytes = 0;     // now
  };

  explicit ByteBudget(int64_t bytes) : bytes_(bytes) {}
  // Three quarters of what the process may use, or the most that one of its runs was given.
  static ByteBudget& process();

  void join(Member* member);
  void leave(Member* member);
  // Sets bytes aside in the member's share; a negative number gives them back.
  void set_aside(Member* member, int64_t bytes);
  // Makes the shares follow the use. Cheap while there is one run.
  void follow_use();

 private:
  void follow();

  const int64_t bytes_;
  ForkMutex mutex_;
  std::atomic<int> count_{0};
  std::vector<Member*> members_;
  uint32_t forks_ = fork_count();  // a child has none of its parent's runs
};

}  // namespace penstock
