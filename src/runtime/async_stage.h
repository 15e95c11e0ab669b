// The border between threads: blocks are pulled and worked on by the CPU pool ahead of the
// consumer.
//
// A task pulls a few blocks of the input, numbers them, lets the next task pull, runs the chain on
// its own and publishes them into the slots of their numbers; the consumer drains in order. So a
// block stays on one core from the source to the last of its stages. A task takes one block, or as
// many cheap ones as make it worth waking a thread; where threads bring nothing the consumer
// computes cheap blocks itself (runtime/inline_choice.h), and so it does once the stage's controls
// say that nothing is to be handed over any more. Admission is by credits, taken before a block is
// pulled: tasks at work (calls), rows finished and waiting, and bytes of the run's budget. The
// block that the consumer waits for is always admitted, so a small budget slows the stage down but
// cannot stop it.
#pragma once

#include <memory>

#include "runtime/stage_cursor.h"

namespace penstock {

class AsyncStage {
 public:
  virtual ~AsyncStage() = default;
  // The next block, at most pull.max_rows rows of it. Throws CANCELLED.
  virtual Poll take(Block* out, const Pull& pull) = 0;
  // The consumer has gone: tasks end soon.
  virtual void close() = 0;
};

// The stage, and its first thread. Throws RESOURCE_EXHAUSTED, and leaves the input, if the system
// refuses that.
std::shared_ptr<AsyncStage> start_async_stage(CursorPtr* input, Run* run,
                                              const StageOptions& options);

}  // namespace penstock
