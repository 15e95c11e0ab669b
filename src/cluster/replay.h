// Replays of the recorded step with changes: `penstock replay`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/predict.h"

namespace penstock::cluster {

// The network of a replay under each policy: the policy first, then the network file, then the
// rate.
struct Networks {
  int32_t lanes = 1;       // ops that a worker runs at once
  std::string file, json;  // of a network (NET.json); empty: none
  double rate = 0;  // payload bytes/s of the servers' links; 0: as the policy or the file say

  // Throws INVALID_ARGUMENT for an unknown policy and for mistakes in the file.
  Rig with_policy(const std::string& policy) const;
};

struct Replay {
  std::string change;  // empty: as recorded
  Point point;
};

struct Replays {
  std::vector<Replay> rows;  // the recorded step first
  std::vector<std::string> notes;
};

// Replays the recorded step as it is, then with each change alone, and with all of them together. A
// placement is replayed on the number of servers that another change asks for. `ended` is told how
// many replays have ended, of how many. Throws INVALID_ARGUMENT for a change that makes no sense.
Replays replay_changes(const Profile& recorded, const Question& question, const Networks& networks,
                       const std::vector<std::string>& changes,
                       const std::function<void(size_t ended, size_t whole)>& ended = {});

// Gain in steps/s over the recorded step; differences due to rounding count as none.
double gain(const Replays& replays, const Replay& row);

}  // namespace penstock::cluster
