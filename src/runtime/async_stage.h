// The border between threads: blocks are pulled and worked on by the CPU pool ahead of the
// consumer.
//
// A task pulls a few blocks of the input, numbers them, lets the next task pull, runs the chain on
// its own and publishes them into the slots of their numbers; the consumer drains in order. So a
// block stays on one core from the source to the last of its stages. A task takes one block, or as
// many cheap ones as make it worth waking a thread; where threads bring nothing the consumer
// computes cheap blocks itself (runtime/inline_choice.h). Admission is by credits, taken before a
// block is pulled: tasks at work (limit), rows finished and waiting, and bytes of the run's budget.
// The block that the consumer waits for is always admitted, so a small budget slows the stage down
// but cannot stop it.
#pragma once

#include <memory>

#include "runtime/chain.h"

namespace penstock {

struct AsyncOptions {
  std::shared_ptr<const Chain> chain;  // null: blocks pass as they are (prefetch)
  int64_t limit = 1;                   // blocks worked on at once
  int64_t buffer_rows = 0;  // finished rows that may wait; 0: as many as keep the workers busy
  bool ordered = true;
  int64_t batch_rows = 0;  // results are made in place for batches of so many rows
  int depth = 0;
  bool cheap_together = true;  // blocks that cost little are handed over many at a time, or not at
                               // all where that is as fast
  NodeCounters* counters = nullptr;
};

CursorPtr open_async_stage(CursorPtr input, Run* run, const AsyncOptions& options);

}  // namespace penstock
