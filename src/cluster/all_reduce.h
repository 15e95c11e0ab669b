// Synchronous training: every rank runs the same step, collectives join them (DDP).
#pragma once

#include <vector>

#include "cluster/predict.h"
#include "cluster/simulator.h"

namespace penstock::cluster {

// One point for each of question.workers; question.rig.server_rate is the rate of each rank's link,
// each way. Collectives go first come, first served: a ring all-reduce of n bytes on W ranks takes
// 2 (W - 1) / W n / rate, on a tree 2 ceil(log2 W) n / rate, a broadcast ceil(log2 W) n / rate,
// less what a rested link carries at once (Rig::burst_bytes), and at least a latency. Throws
// INVALID_ARGUMENT when steps differ in their collectives.
std::vector<Point> all_reduce_points(const Profile& profile, const Question& question);

// The step on two ranks that both run it, over links of `rate` bytes/s that save up nothing: its
// end, and the spans of one rank. A collective has one for each way of the rank's link.
Outcome replay_two_ranks(const Step& step, double rate);

}  // namespace penstock::cluster
