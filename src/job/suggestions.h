// Changes that would make a traced pipeline faster.
#pragma once

#include "report/explanation.h"

namespace penstock {

// Predicts the gain of optimizing from the trace alone: the model divides the cores. Returns no
// change if the gain is small.
ExplainOptions suggestions(const Analysis& analysis);

}  // namespace penstock
