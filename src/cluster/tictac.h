// TIC and TAC: orders of a worker's downlink transfers (Hashemi et al., TicTac, MLSys 2019).
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/profile.h"

namespace penstock::cluster {

// Returns for each op its priority: lower goes first, equal on TIC's ties, -1 for ops that are not
// downlink transfers. `seconds` of each op: computing time of worker ops, transmission time of
// downlink transfers. Throws RESOURCE_EXHAUSTED above 2000 transfers.
std::vector<int32_t> tic_priorities(const Step& step);
std::vector<int32_t> tac_priorities(const Step& step, const std::vector<double>& seconds);

}  // namespace penstock::cluster
