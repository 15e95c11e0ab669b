// TIC and TAC: orders of a worker's downlink transfers (Hashemi et al., TicTac, MLSys 2019).
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/profile.h"

namespace penstock::cluster {

// `seconds` of each op: computing of the worker's, transmission of the downlink's. Gives for each
// op its priority, lower first and equal where TIC ties; -1 for ops that are no downlink transfer.
// Throws RESOURCE_EXHAUSTED beyond 2000 transfers.
std::vector<int32_t> tic_priorities(const Step& step);
std::vector<int32_t> tac_priorities(const Step& step, const std::vector<double>& seconds);

}  // namespace penstock::cluster
