#include "cli/measure.h"

#include <optional>

#include "cli/interrupt.h"
#include "cli/progress.h"

namespace penstock::cli {
namespace {

class CommandRun final : public RunObserver {
 public:
  void begin(BlockIterator* iterator) override { cancel_.emplace(iterator); }
  void end() override { cancel_.reset(); }
  void count(int64_t elements, int64_t steps) override { Progress::count(elements, steps); }
  bool is_stopped() const override { return CancelOnSignal::requested(); }

 private:
  std::optional<CancelOnSignal> cancel_;
};

}  // namespace

TracedRun measured_run(const PlanPtr& plan, const RunOptions& options, const TraceLimits& limits) {
  const Progress progress("elements", limits.seconds < TraceLimits::kForever ? limits.seconds : 0);
  CommandRun observer;
  return traced_run(plan, options, std::make_shared<PipelineState>(), limits, &observer);
}

}  // namespace penstock::cli
