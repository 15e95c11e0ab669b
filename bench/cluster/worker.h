// The rig's worker: pulls all tensors, sleeps where a model would compute, pushes all gradients.
#pragma once

#include <string>
#include <vector>

#include "bench/cluster/layers.h"

namespace penstock::rig {

struct Job {
  std::vector<std::string> servers;  // addresses
  uint64_t seed = 1;                 // of the jitter and the order of requests
  double jitter = 0.05;   // of the logarithm of a layer's sleep; that of a whole step is 0.02
  bool in_order = false;  // requests in the order of layers, not in a new random order in each step
  std::string profile;    // folder for RunMetadata of each step; empty: none
  int64_t profile_from = 0, profile_steps = 0;
};

// Prints "ready", waits for a line with the starting time in nanoseconds, then prints "step BEGIN
// END" in nanoseconds for each step until standard input ends or the profile is complete.
void work(const Layers& layers, const Job& job);

}  // namespace penstock::rig
