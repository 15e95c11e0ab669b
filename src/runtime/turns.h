// Stages that work for one consumer and may not all work at once: the open inner datasets of a
// parallel interleave.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "runtime/stage_controls.h"

namespace penstock {

// Hands out turns: as many at once as `calls` says now, in the order in which they were asked for.
// Thread-safe.
class Turns {
 public:
  // Somebody who waits for a turn.
  class Waiter {
   public:
    virtual ~Waiter() = default;
    // There may be a turn now: asks again. Returns whether it took one. Called without locks of
    // Turns.
    virtual bool turn_came() = 0;
  };

  explicit Turns(const LiveValue* calls) : calls_(calls) {}

  // Returns whether `waiter` has a turn now; if not it is told later, once. `urgent`: the consumer
  // waits for it, so it goes at once.
  bool take(const std::weak_ptr<Waiter>& waiter, bool urgent);
  // A turn is over. Call without the waiter's locks.
  void give_back();

 private:
  std::shared_ptr<Waiter> next();

  const LiveValue* const calls_;
  std::mutex mutex_;
  int64_t taken_ = 0;
  std::deque<std::weak_ptr<Waiter>> waiting_;
};

}  // namespace penstock
