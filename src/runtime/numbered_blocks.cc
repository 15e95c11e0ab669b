#include "runtime/numbered_blocks.h"

#include <algorithm>
#include <utility>

namespace penstock {

void NumberedBlocks::publish(uint64_t number, Block block, Block input) {
  Slot& slot = slots_[number - first_];
  rows_ += block.rows;
  slot.state = ordered_ ? Slot::State::done : Slot::State::gone;
  (ordered_ ? slot.block : finished_.emplace_back()) = std::move(block);
  slot.input = std::move(input);
}

bool NumberedBlocks::has_front() const {
  if (!finished_.empty()) return true;
  if (slots_.empty()) return false;
  const Slot::State first = slots_.front().state;
  return first == Slot::State::done || first == Slot::State::gone;
}

bool NumberedBlocks::take_front(Block* out) {
  while (!slots_.empty() && slots_.front().state == Slot::State::gone) {
    slots_.pop_front();
    ++first_;
  }
  if (!finished_.empty()) {
    *out = std::move(finished_.front());
    finished_.pop_front();
  } else if (!slots_.empty() && slots_.front().state == Slot::State::done) {
    *out = std::move(slots_.front().block);
    slots_.pop_front();
    ++first_;
  } else {
    return false;
  }
  rows_ -= out->rows;
  return true;
}

bool NumberedBlocks::give_up(Block* dropped) {
  for (size_t i = slots_.size(); i-- > 1;) {
    Slot& slot = slots_[i];
    if (slot.state != Slot::State::done || slot.input.rows == 0) continue;
    slot.state = Slot::State::undone;
    ++undone_;
    rows_ -= slot.block.rows;
    *dropped = std::exchange(slot.block, Block());
    return true;
  }
  return false;
}

uint64_t NumberedBlocks::oldest_undone() const {
  const auto slot = std::ranges::find(slots_, Slot::State::undone, &Slot::state);
  return first_ + static_cast<uint64_t>(slot - slots_.begin());
}

Block NumberedBlocks::take_undone() {
  Slot& slot = slots_[oldest_undone() - first_];
  --undone_;
  slot.state = Slot::State::working;
  return std::exchange(slot.input, Block());
}

}  // namespace penstock
