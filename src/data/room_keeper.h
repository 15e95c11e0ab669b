// Lets allocations wait for room in the memory budget before they fail.
//
// A run's threads carry its RoomKeeper. An allocation over the budget asks it. The keeper blocks
// the thread until others have released memory, and refuses only if no other thread can.
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
  // Waits until work that gave way when it wanted `bytes` is worth trying again. Throws CANCELLED.
  virtual void wait_for_turn(int64_t bytes) = 0;
};

// Agreement between the thread and its keeper.
struct RoomState {
  RoomKeeper* keeper = nullptr;  // null: an allocation over the budget fails without waiting
  bool repeatable = false;       // the thread's work may be dropped and repeated
  bool gave_way = false;         // the last allocation failed in favour of older work
  int64_t wanted_bytes = 0;      // and it wanted this many bytes
};
inline RoomState& room_state() {
  static thread_local RoomState state;
  return state;
}

// Sets the keeper of this thread. Use null for code that may not wait, such as code under a lock
// that other threads need to release memory.
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

// During its lifetime, an allocation of this thread may fail in favour of older work. After a
// failure the caller asks gave_way(), releases what it holds, waits for its turn and repeats the
// work.
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
