// One order of a run's tasks, drawn from a seed, so that it can be had again.
//
// The pools of such a run have no threads. The consumer's thread runs their tasks: some before each
// pull, and while it waits as many as it takes to be woken. Any queued task may be next, whatever
// its priority, so that tasks end in orders that threads show once in a million runs. A consumer
// that waits while there is no task would wait for ever: that is an error here.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/scheduler.h"

namespace penstock {

// Used by one thread.
class Schedule {
 public:
  explicit Schedule(uint64_t seed) : seed_(seed), state_(seed) {}
  // The pool's tasks are run here from now on. REQUIRES that it has had none.
  void add(ThreadPool* pool);
  // Runs one task. Throws INTERNAL, which names the seed, if there is none.
  void run_one();
  // Before a pull: runs a few of those that there are.
  void run_some();

 private:
  uint64_t draw(uint64_t bound);
  bool try_one();

  const uint64_t seed_;
  uint64_t state_;
  std::vector<ThreadPool*> pools_;
};

}  // namespace penstock
