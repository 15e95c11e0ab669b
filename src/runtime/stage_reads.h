// Counts the files that the function of a stage reads.
#pragma once

#include "io/read_counter.h"
#include "runtime/run.h"

namespace penstock {

// Waits for storage inside the function's ops are no work of the stage: they go from its busy time
// to its starved time.
class StageReads final : public ReadCounter {
 public:
  StageReads(NodeCounters* stage, Run* run) : stage_(stage), run_(run) {}
  void opened() override { stage_->add(&StageCounts::files_opened, 1); }
  void read(int64_t bytes) override { stage_->add(&StageCounts::bytes_read, bytes); }
  void waited(int64_t ns) override {
    const auto n = static_cast<int64_t>(static_cast<double>(ns) / ns_per_tick());
    stage_->add(&StageCounts::busy_ticks, -n * pull_clock.weight);
    stage_->add(&StageCounts::starved_ticks, n);
    if (ThreadPool::current() == &run_->cpu()) run_->count_task(-ns, 0);
  }

 private:
  NodeCounters* const stage_;
  Run* const run_;
};

}  // namespace penstock
