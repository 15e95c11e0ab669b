// Search for the placement of variables with the shortest predicted step.
#pragma once

#include "cluster/placement.h"
#include "cluster/predict.h"

namespace penstock::cluster {

// Returns the best of greedy, round-robin, and a search that starts from the better of both and
// moves or swaps the largest variables while a short simulation of the question's last number of
// workers gets faster. The choice uses predict() with the question unchanged, so the result is
// never slower in its answer than the other two. The result is deterministic. Throws like place().
Profile place_optimised(const Profile& profile, int32_t servers, const Question& question);

}  // namespace penstock::cluster
