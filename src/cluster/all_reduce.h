// Synchronous training: every rank runs the same step and collectives join the ranks (DDP).
#pragma once

#include <functional>
#include <vector>

#include "cluster/predict.h"
#include "cluster/simulator.h"

namespace penstock::cluster {

// Returns one point for each of question.workers. question.rig.server_rate is the rate of each
// rank's link, each way. Collectives run first come, first served. For n bytes on W ranks a ring
// all-reduce takes 2 (W - 1) / W n / rate, a tree 2 ceil(log2 W) n / rate, a broadcast ceil(log2 W)
// n / rate, less the burst of an idle link (Rig::burst_bytes), and at least the latency of its
// messages. Throws INVALID_ARGUMENT if steps differ in their collectives.
// `ready` gets each point as it comes, and may change it.
std::vector<Point> all_reduce_points(const Profile& profile, const Question& question,
                                     const std::function<void(Point*)>& ready = {});

// Replays one step on two ranks over links of `rate` bytes/s without burst. Returns its end and the
// spans of one rank. A collective has one span for each direction of the rank's link.
Outcome replay_two_ranks(const Step& step, double rate);

// Simulates the first steps of that many ranks; the spans are those of all ranks, one for each
// direction of a rank's link for a collective. Throws as all_reduce_points().
Outcome replay_ranks(const Profile& profile, const Question& question, int32_t workers,
                     int32_t steps);

}  // namespace penstock::cluster
