// Contents of a profile, in figures.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cluster/profile.h"

namespace penstock::cluster {

struct ResourceSummary {
  double ops = 0;       // per step, mean over the steps
  double bytes = 0;     // payload
  double seconds = 0;   // computing; transfers: time of their bytes at `rate`
  double first_s = -1;  // recorded phase: first start and last end, means over the steps;
  double last_s = -1;   // -1 without records
};

// Load during one slice of the replayed step of one worker (with collectives: of one of two ranks),
// as a mean over the slice and the steps.
struct Slice {
  double downlink_rate = 0, uplink_rate = 0;  // bytes/s
  double worker_use = 0, server_use = 0;      // mean number of running ops
};

struct Inspection {
  std::array<ResourceSummary, kResources> by_resource;  // by Resource
  std::vector<double> server_bytes;                     // per step, both directions, by server
  double replay_s = 0;                                  // step of one worker alone, links at `rate`
  double two_ranks_s = 0;          // with collectives: step of two ranks; else 0
  double critical_worker_s = 0;    // on the critical path: worker computing,
  double critical_server_s = 0;    // server computing,
  double critical_transfer_s = 0;  // and transfers, each alone on its link
  double hidden_share = 0;  // share of the drawn step's time with transfers that has computing
  int lanes = 1;
  double slice_s = 0;                // length of a slice: 1/60 of the longest step
  std::vector<Slice> slices;         // from the start of the step
  std::vector<std::string> missing;  // gaps of the profile, in words
};

// REQUIRES a checked profile and a rate above 0 bytes/s.
Inspection inspect(const Profile& profile, double rate);

}  // namespace penstock::cluster
