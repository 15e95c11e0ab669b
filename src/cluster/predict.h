// Throughput of training for each cluster size, from one worker's profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/profile.h"
#include "cluster/rig.h"

namespace penstock::cluster {

enum class Model : uint8_t {
  event,    // the simulator
  lin,      // closed queueing network, phases disjoint (Lin et al., MASCOTS 2018)
  cynthia,  // W / (TP max(1, W U1) + 2 TC) (Cynthia, ICPP 2019)
  ideal,    // W / max(T1, W bytes / rate)
};
// "event" and so on; throws INVALID_ARGUMENT for other words.
Model parse_model(const std::string& name);

struct Question {
  std::vector<int32_t> workers;
  Rig rig;
  Model model = Model::event;
  double step_time_s = 0;    // one worker's measured step; 0: from the profile
  int32_t steps = 120;       // simulated by each worker in each replication
  int32_t warm_up = 20;      // of them left out
  int32_t replications = 8;  // with another start and other draws each
  uint64_t seed = 1;
  int32_t threads = 1;
};

struct Point {
  int32_t workers = 1;
  int32_t servers = 1;
  double steps_per_s = 0;
  double low = 0, high = 0;  // 90 % interval for a run of 40 steps a worker; equal to steps_per_s
                             // for the formulas
  std::string binds;         // worker, downlink, uplink or server
  // Shares of the time in use: of a worker's lane, of the fullest link each way, of server cores.
  double worker_use = 0, downlink_use = 0, uplink_use = 0, server_use = 0;
};

// One point for each of question.workers, with the profile's servers. The same question has the
// same answer whatever the threads. Throws INVALID_ARGUMENT for sizes out of 1..10000 and rates of
// 0.
std::vector<Point> predict(const Profile& profile, const Question& question);

}  // namespace penstock::cluster
