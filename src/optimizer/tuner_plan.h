// Values that reach a rate, as the model predicts it.
#pragma once

#include <vector>

#include "optimizer/tuner_model.h"

namespace penstock {

// A planned move, and the limit that it raises in words.
struct PlannedMove {
  TunerMove move;
  std::string why;
};

struct TunerPlan {
  std::vector<PlannedMove> moves;
  double gain = 1;  // predicted rate over the predicted rate now
};

// Raises whatever limits the rate until the cores, the consumer or a stage that may not move do.
// Keeps the bytes that stages hold ahead within half of the memory budget.
TunerPlan plan_more(const TunerView& view, const TunerCosts& costs);

// One step up where the model sees no gain, for a run that is slower than the model says and leaves
// cores idle.
TunerPlan plan_probe(const TunerView& view, const TunerCosts& costs);

// Lowers calls to the least with which the pipeline makes `rate` elements per second by itself.
TunerPlan plan_less(const TunerView& view, const TunerCosts& costs, double rate);

// Lowers calls and rows until they fit the memory budget.
TunerPlan plan_to_fit(const TunerView& view, const TunerCosts& costs);

}  // namespace penstock
