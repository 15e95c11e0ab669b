// Synchronous training: every rank runs the same step, collectives join them (DDP).
#pragma once

#include <vector>

#include "cluster/predict.h"

namespace penstock::cluster {

// One point for each of question.workers; question.rig.server_rate is the rate of each rank's link,
// each way. Collectives go first come, first served: a ring all-reduce of n bytes on W ranks takes
// 2 (W - 1) / W n / rate, on a tree 2 ceil(log2 W) n / rate, a broadcast ceil(log2 W) n / rate,
// less what a rested link carries at once (Rig::burst_bytes), and at least a latency. Throws
// INVALID_ARGUMENT when steps differ in their collectives.
std::vector<Point> all_reduce_points(const Profile& profile, const Question& question);

}  // namespace penstock::cluster
