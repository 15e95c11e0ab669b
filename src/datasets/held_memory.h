// Memory that an operator holds beside buffers (keys, groups, rows that wait), counted against the
// run's budget.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/buffer.h"

namespace penstock {

// Counts in steps, so that most calls only add. Not thread-safe.
class HeldMemory {
 public:
  // Counts `bytes` more. Throws RESOURCE_EXHAUSTED that says `what` is held ("3 keys") and what to
  // do about it; nothing is counted then.
  template <typename What>
  void grow(int64_t bytes, const What& what, const char* remedy) {
    try {
      while (charged() < bytes_ + bytes)
        charges_.push_back(allocate_buffer(kStep - static_cast<int64_t>(sizeof(BufferHeader))));
    } catch (const Error& e) {
      if (e.code() != Code::resource_exhausted) throw;
      throw Error(Code::resource_exhausted,
                  "the memory budget of " + std::to_string(current_pool().budget_bytes() >> 20) +
                      " MiB is used up with " + what() + "; " + remedy +
                      ", or give more with --memory");
    }
    bytes_ += bytes;
  }
  void shrink(int64_t bytes) {
    bytes_ -= bytes;
    while (charged() - bytes_ > 2 * kStep) charges_.pop_back();
  }
  int64_t bytes() const { return bytes_; }

 private:
  static constexpr int64_t kStep = 64 << 10;
  int64_t charged() const { return static_cast<int64_t>(charges_.size()) * kStep; }

  std::vector<BufferRef> charges_;  // counted by the pool; their pages are never touched
  int64_t bytes_ = 0;
};

}  // namespace penstock
