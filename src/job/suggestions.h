// Changes that would make a traced pipeline faster.
#pragma once

#include "report/explanation.h"

namespace penstock {

// Returns the change that the trace alone suggests. More threads, with an upper bound of the rate,
// where a stage could use them; otherwise the remedy for the verdict's cause, without a gain. No
// change if the input is not what limits, or no cause is clear. A promise exceeds neither the
// ceilings of cores, disk and consumer, nor is it below the rate now.
ExplainOptions suggestions(const Analysis& analysis);

}  // namespace penstock
