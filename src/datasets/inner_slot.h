// One of the places of a flat_map or interleave where an inner dataset is open.
#pragma once

#include "datasets/inner_rest.h"
#include "datasets/runs.h"
#include "runtime/cursor.h"

namespace penstock {

struct InnerSlot {
  CursorPtr cursor;  // none: the slot is empty
  ObjectPtr value;   // keeps the environment of the cursor alive
  RunJoiner::Source held;
  int64_t row = 0;                  // of held
  int64_t joined = 0;               // the pull that took of held last
  int64_t arrived = 0;              // which input it was made of
  uint64_t key = 0;                 // inner_key of that
  int64_t pulled = 0;               // rows so far, those of held included
  StreamPosition before;            // where the dataset stood before held
  bool takes_turns = false;         // the pool may work on it (InnerDatasets::work_ahead)
  const InnerRest* rest = nullptr;  // what is to be given of it, where that is not all

  int64_t left() const { return held ? held->rows - row : 0; }
  int64_t next_row() const { return pulled - left(); }  // of the dataset, from where it was opened
  StreamPosition position() const {
    return held ? StreamPosition{before.mark, before.rows + row} : cursor->position();
  }
  void hold(Block block) {
    pulled += block.rows;
    held = std::make_shared<const Block>(std::move(block));
    row = joined = 0;
  }
  void drop(int64_t rows) {
    row += rows;
    if (row == held->rows) held.reset();
  }
};

}  // namespace penstock
