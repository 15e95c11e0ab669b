// The cause that holds a pipeline back, and the state of every other cause.
#pragma once

#include "model/model.h"

namespace penstock {

struct VerdictInput {
  double elements = 0;               // of the root, in the interval of the rates
  double seconds = 0;                // of that interval
  double consumer_seconds = 0;       // the consumer's own work per element; 0: none
  double disk_bytes_per_second = 0;  // 0: not given
};

// REQUIRES rates, demands, threads and waits of `analysis`.
Verdict find_verdict(const Analysis& analysis, const VerdictInput& input);

}  // namespace penstock
