// What a profile holds, in figures.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cluster/profile.h"

namespace penstock::cluster {

struct ResourceSummary {
  double ops = 0;       // a step, mean over the steps
  double bytes = 0;     // payload
  double seconds = 0;   // computing; of transfers, what their bytes take at `rate`
  double first_s = -1;  // recorded phase: first start and last end, means over the steps; -1
  double last_s = -1;   // without records
};

// What happens at once in the replayed step of one worker, with collectives of one of two ranks,
// mean over a slice of it and the steps.
struct Slice {
  double downlink_rate = 0, uplink_rate = 0;  // bytes/s
  double worker_use = 0, server_use = 0;      // ops that run, on average
};

struct Inspection {
  std::array<ResourceSummary, kResources> by_resource;  // by Resource
  std::vector<double> server_bytes;                     // a step, both ways, by server
  double replay_s = 0;             // a step of one worker alone, links at `rate`
  double two_ranks_s = 0;          // with collectives: a step of two ranks; else 0
  double critical_worker_s = 0;    // of the longest chain of dependencies: computing,
  double critical_server_s = 0;    // server computing,
  double critical_transfer_s = 0;  // and transfers, each alone on its link
  double hidden_share = 0;         // of the transfer seconds, the part beside computing
  int lanes = 1;
  double slice_s = 0;                // length of each of slices: the longest step is cut into 60
  std::vector<Slice> slices;         // from the start of the step on
  std::vector<std::string> missing;  // what the profile does not tell, in words
};

// REQUIRES a checked profile and a rate of more than 0 bytes/s.
Inspection inspect(const Profile& profile, double rate);

}  // namespace penstock::cluster
