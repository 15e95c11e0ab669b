// Who waits for memory, and who gives way, when a run's budget is used up.
//
// An allocation that finds no room waits while anybody else of the run is at work: a task that runs
// or is queued, or the consumer. They give memory back by themselves. When all of them stand still,
// the most urgent of those that wait is helped, in this order:
// 1. Work ahead that can be repeated gives way, the least urgent first: it drops what it holds for
//    its row, and does the row again in its turn.
// 2. What is held only to be faster is given up: blocks that are finished ahead and can be made
//    again, files read ahead, at last a cache that is being filled.
// 3. Others that wait go on, if they need no more than there is; a few times, since one that gave
//    way and begins anew may need as much again.
// Only then does the allocation fail: it could not succeed on one thread either. Urgency is the
// order of tasks (scheduler.h): the consumer's thread first, then stages near the sink before those
// at the source, and within a stage the oldest block first.
//
// A thread that waits is replaced in its pool, so that older tasks find a thread. Whoever gives
// memory back tells nobody: those that wait look every two milliseconds, since an allocation must
// not pay for what hardly ever happens.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "data/room_keeper.h"
#include "runtime/held_stages.h"

namespace penstock {

// Memory that is held only to be faster.
class Spare {
 public:
  virtual ~Spare() = default;
  // Gives it back, if there is any; from any thread. Returns whether it did. Must not wait.
  virtual bool give_up() = 0;
  // What takes more work to make again is given up last.
  virtual bool is_costly() const { return false; }
};

// One for each run. Thread-safe.
class MemoryGate final : public RoomKeeper {
 public:
  // The consumer counts as being at work.
  MemoryGate(const BufferPool* pool, const std::atomic<bool>* cancelled)
      : pool_(pool), cancelled_(cancelled) {}

  // What the run may use at all. Its pool's budget may be less for a while (a cache that is
  // filled).
  void set_most_bytes(int64_t bytes) { most_bytes_ = bytes; }

  bool wait_for_room(const BufferPool& pool, int64_t bytes) override;
  void wait_for_turn(int64_t bytes) override;

  const std::shared_ptr<HeldStages>& held() const { return held_; }

  // Tasks queued or running, and the consumer unless it waits. Whoever wakes a thread that stood
  // still counts it before doing so.
  std::atomic<int64_t>* at_work() { return &at_work_; }
  void stand_still() { at_work_.fetch_sub(1); }
  void go_on() { at_work_.fetch_add(1); }
  // Somebody waits for memory: no time to begin work ahead.
  bool is_contended() const { return waiting_.load(std::memory_order_relaxed) > 0; }

  void add(Spare* spare);
  void remove(Spare* spare);

 private:
  enum class Outcome : uint8_t { none, go_on, give_way, fail };
  struct Waiter {
    uint64_t priority;
    int64_t bytes;          // that it needs
    bool repeatable;        // it may be told to give way
    bool holds_nothing;     // it has given way, and waits for its turn
    int let_others_go = 0;  // how often, for want of anything else that helps
    uint64_t number = 0;    // of two with the same priority the first to come goes first
    Outcome outcome = Outcome::none;
  };
  class Standstill;

  void wait(Waiter* waiter);
  static bool comes_before(const Waiter& a, const Waiter& b);
  // With the lock:
  bool is_first(const Waiter& waiter) const;
  bool fits(const Waiter& waiter) const;
  void decide(Waiter* waiter, Outcome outcome);
  void help(Waiter* first);

  const BufferPool* const pool_;
  const std::atomic<bool>* const cancelled_;
  int64_t most_bytes_ = INT64_MAX;
  const std::shared_ptr<HeldStages> held_ = std::make_shared<HeldStages>();
  std::atomic<int64_t> at_work_{1};
  std::atomic<int64_t> waiting_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiter*> waiters_;
  std::vector<Spare*> spares_;
  uint64_t waited_ = 0;
};

}  // namespace penstock
