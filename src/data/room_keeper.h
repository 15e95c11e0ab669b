// Waiting for room in the memory budget, instead of failing.
//
// A run's threads carry its RoomKeeper. An allocation over the budget asks it; the keeper lets the
// thread wait until others have given memory back, and says no only if nobody else can.
#pragma once

#include <cstdint>
#include <utility>

namespace penstock {

class BufferPool;

class RoomKeeper {
 public:
  virtual ~RoomKeeper() = default;
  // Waits until `pool` may have room for `bytes` more. Returns false if the allocation has to fail.
  // Throws CANCELLED.
  virtual bool wait_for_room(const BufferPool& pool, int64_t bytes) = 0;
  // For work that gave way when it wanted `bytes`: waits until it is worth trying again. Throws
  // CANCELLED.
  virtual void wait_for_turn(int64_t bytes) = 0;
};

// What the thread has agreed on with its keeper.
struct RoomState {
  RoomKeeper* keeper = nullptr;  // null: nothing waits, an allocation over the budget fails
  bool repeatable = false;       // the work that the thread does may be dropped and done again
  bool gave_way = false;         // the last failure was made for the sake of older work
  int64_t wanted_bytes = 0;      // ... and how much it wanted
};
inline RoomState& room_state() {
  static thread_local RoomState state;
  return state;
}

// Sets the keeper of this thread. Null for code that may not wait, such as under a lock that other
// threads need to give memory back.
class ScopedRoomKeeper {
 public:
  explicit ScopedRoomKeeper(RoomKeeper* keeper)
      : before_(std::exchange(room_state().keeper, keeper)) {}
  ~ScopedRoomKeeper() { room_state().keeper = before_; }
  ScopedRoomKeeper(const ScopedRoomKeeper&) = delete;
  ScopedRoomKeeper& operator=(const ScopedRoomKeeper&) = delete;

 private:
  RoomKeeper* const before_;
};

// While it lives, an allocation of this thread may fail for the sake of older work. Whoever does
// the work asks gave_way() when it has failed, lets go of what it holds, waits for its turn and
// does the work again.
class ScopedRepeatable {
 public:
  explicit ScopedRepeatable(bool repeatable)
      : before_(std::exchange(room_state().repeatable, repeatable)) {}
  ~ScopedRepeatable() { room_state().repeatable = before_; }
  ScopedRepeatable(const ScopedRepeatable&) = delete;
  ScopedRepeatable& operator=(const ScopedRepeatable&) = delete;

  static bool gave_way() { return room_state().gave_way; }
  static void wait_for_turn() {
    room_state().gave_way = false;
    if (RoomKeeper* keeper = room_state().keeper) keeper->wait_for_turn(room_state().wanted_bytes);
  }

 private:
  const bool before_;
};

}  // namespace penstock
