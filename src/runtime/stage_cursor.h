// A stage whose blocks the consumer's thread or the CPU pool computes, as its controls say.
#pragma once

#include <memory>

#include "runtime/batch_places.h"
#include "runtime/chain.h"
#include "runtime/turns.h"

namespace penstock {

struct StageOptions {
  std::shared_ptr<const Chain> chain;  // null: blocks pass as they are
  // With a chain, the pool works on `calls` blocks at once if that is more than one; else it makes
  // `rows_ahead` rows ahead if that is more than none. Null: the consumer's thread does all.
  StageControls* controls = nullptr;
  bool ordered = true;
  std::shared_ptr<BatchPlaces> batch{};  // results are made in place for it; null: anywhere
  int depth = 0;
  bool cheap_together = true;  // blocks that cost little are handed over many at a time, or not at
                               // all where that is as fast
  std::shared_ptr<Turns> turns;  // shared with other stages that take turns; null: alone
  NodeCounters* counters = nullptr;
};

// Returns true if the controls want the pool to work for a stage.
inline bool wants_pool(const StageOptions& options) {
  const StageControls* controls = options.controls;
  if (!controls) return false;
  const HandOver how = controls->hand_over.load(std::memory_order_relaxed);
  if (how == HandOver::consumer) return false;
  if (options.chain) return how == HandOver::pool || controls->calls.get() > 1;
  return controls->rows_ahead.get() > 0 && (!options.turns || controls->calls.get() > 1);
}

// Throws RESOURCE_EXHAUSTED if it is to begin on the pool and the system refuses a thread. One that
// is refused later is done without.
CursorPtr open_stage(CursorPtr input, Run* run, const StageOptions& options);

}  // namespace penstock
