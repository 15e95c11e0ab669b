// Runs of a command: they show their progress, and a signal ends them.
#pragma once

#include <optional>

#include "cli/interrupt.h"
#include "job/traced_run.h"

namespace penstock::cli {

// Cancels the run on a signal and counts its elements on the progress line.
class CommandRun final : public RunObserver {
 public:
  void begin(BlockIterator* iterator) override { cancel_.emplace(iterator); }
  void end() override { cancel_.reset(); }
  void count(int64_t elements, int64_t steps) override;
  bool is_stopped() const override { return CancelOnSignal::requested(); }

 private:
  std::optional<CancelOnSignal> cancel_;
};

TracedRun measured_run(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits);

}  // namespace penstock::cli
