// A run as a policy of the tuner sees it.
#pragma once

#include <vector>

#include "optimizer/prepare.h"
#include "optimizer/tuner.h"
#include "runtime/run.h"
#include "trace/placed_nodes.h"

namespace penstock {

// Reads counters and controls of a run, and sets controls. Used by one thread.
class RunView {
 public:
  // `filled`: stages whose calls were written by us, not by the user.
  RunView(Run* run, const FilledNodes& filled);
  TunerView read(double asking_seconds, int runs);
  void move(const TunerMove& move);

 private:
  void find_stages();
  TunedStage stage(size_t top) const;

  Run* const run_;
  const FilledNodes filled_;
  const std::vector<PlacedNode> placed_;
  std::vector<RunStage*> in_run_;        // of each placed node; null: not opened yet
  std::vector<std::vector<size_t>> of_;  // placed nodes that count for each stage at the top
  std::vector<int> users_;               // of each stage at the top
  size_t opened_ = 0;                    // stages of the run when they were looked up
};

}  // namespace penstock
