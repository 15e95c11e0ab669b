// The blocks of an async stage, from the pull to the consumer.
//
// Blocks get numbers as they are pulled and come back in any order; the consumer takes them by
// their numbers, or as they come. A finished block that can be made again may be given up: its slot
// keeps the input, and a task makes it again in its turn.
#pragma once

#include <cstdint>
#include <deque>

#include "data/block.h"

namespace penstock {

// Not thread-safe.
class NumberedBlocks {
 public:
  explicit NumberedBlocks(bool ordered) : ordered_(ordered) {}

  // Blocks that have a number and a slot; rows of those that are finished.
  int64_t size() const { return std::ssize(slots_); }
  int64_t finished_rows() const { return rows_; }
  // The number of the next block.
  uint64_t next() const { return first_ + slots_.size(); }
  void add() { slots_.emplace_back(); }
  // The next block has gone past. REQUIRES size() == 0.
  void pass() { ++first_; }

  // Block `number` is finished. `input`, unless it has no rows, is enough to make it again.
  void publish(uint64_t number, Block block, Block input);
  bool has_front() const;
  // Moves the consumer's next block to `out`; returns false if it is not finished.
  bool take_front(Block* out);

  // Gives up the newest block that can be made again, except the front: moves it to `dropped`.
  // Returns false if there is none.
  bool give_up(Block* dropped);
  bool has_undone() const { return undone_ > 0; }
  // The number of the oldest block that was given up. REQUIRES has_undone().
  uint64_t oldest_undone() const;
  // Returns the input of that block; it is worked on again.
  Block take_undone();

 private:
  struct Slot {
    enum class State : uint8_t { working, done, gone, undone } state = State::working;
    Block block;
    Block input;
  };

  const bool ordered_;
  std::deque<Slot> slots_;      // slots_[0] is block number first_
  std::deque<Block> finished_;  // where order does not matter
  uint64_t first_ = 0;
  int64_t rows_ = 0;
  int64_t undone_ = 0;
};

}  // namespace penstock
