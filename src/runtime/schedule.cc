#include "runtime/schedule.h"

#include <string>

#include "base/error.h"
#include "base/random.h"

namespace penstock {

void Schedule::add(ThreadPool* pool) {
  pool->be_scheduled();
  pools_.push_back(pool);
}

uint64_t Schedule::draw(uint64_t bound) {
  state_ = mix(state_, 1);
  return state_ % bound;
}

bool Schedule::try_one() {
  uint64_t queued = 0;
  for (ThreadPool* pool : pools_) queued += pool->queued();
  if (queued == 0) return false;
  uint64_t chosen = draw(queued);
  for (ThreadPool* pool : pools_) {
    if (chosen < pool->queued()) {
      pool->run_queued(chosen);
      return true;
    }
    chosen -= pool->queued();
  }
  return false;
}

void Schedule::run_one() {
  if (!try_one()) {
    throw Error(Code::internal, "nobody will wake the consumer: no task is left (schedule seed " +
                                    std::to_string(seed_) + ")");
  }
}

void Schedule::run_some() {
  for (uint64_t n = draw(4); n > 0 && try_one(); --n) {
  }
}

}  // namespace penstock
