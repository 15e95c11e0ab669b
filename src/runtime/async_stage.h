// The border between threads: blocks are pulled and worked on by the CPU pool ahead of the
// consumer.
//
// One driver task at a time pulls the input and numbers its blocks; each block becomes a task that
// runs the chain and publishes into the slot of its number; the consumer drains in order. Admission
// is by credits, taken before a block is pulled: blocks being worked on (limit), rows finished and
// waiting, and bytes of the run's budget. The block that the consumer waits for is always admitted,
// so a small budget slows the stage down but cannot stop it.
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
  NodeCounters* counters = nullptr;
};

CursorPtr open_async_stage(CursorPtr input, Run* run, const AsyncOptions& options);

}  // namespace penstock
