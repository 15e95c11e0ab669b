// Throughput of training for each cluster size, from one worker's profile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cluster/feed.h"
#include "cluster/profile.h"
#include "cluster/rig.h"
#include "cluster/step_plan.h"

namespace penstock::cluster {

enum class Model : uint8_t {
  event,    // the simulator
  lin,      // closed queueing network, phases disjoint (Lin et al., MASCOTS 2018)
  cynthia,  // W / (TP max(1, W U1) + 2 TC) (Cynthia, ICPP 2019)
  ideal,    // W / max(T1, W bytes / rate)
  optimus,  // W / (t0 + t1 W / M + t2 W + t3 M), fitted to runs (optimus.h); predict() refuses it
};
// Parses "event" and so on; throws INVALID_ARGUMENT for other words.
Model parse_model(const std::string& name);

enum class Mode : uint8_t {
  async,       // every worker at its own pace (as in the paper)
  sync,        // parameter servers with a barrier and optional backup workers
  all_reduce,  // no servers
};
// Parses "async", "sync", "allreduce"; throws INVALID_ARGUMENT for other words.
Mode parse_mode(const std::string& name);

struct Question {
  std::vector<int32_t> workers;
  Rig rig;
  Model model = Model::event;
  Mode mode = Mode::async;
  int32_t backups = 0;        // sync: number of workers whose gradients a step does not wait for
  bool tree = false;          // all_reduce: a binary tree, up and down, instead of the ring
  Feed feed = {};             // input pipeline of each worker: an element a step
  double step_time_s = 0;     // measured step time of one worker; 0: as in the profile
  int32_t steps = 120;        // steps of each worker in each replication
  int32_t warm_up = 20;       // steps at the start that are ignored
  int32_t replications = 16;  // most replications; each has its own start times and draws
  // Stop adding replications when the mean is known to this share of the interval around it; 0: run
  // all. The decision depends on the draws alone.
  double enough = 0;
  uint64_t seed = 1;
  int32_t threads = 1;
};

struct Point {
  int32_t workers = 1;
  int32_t servers = 1;
  double steps_per_s = 0;
  int32_t batches =
      1;  // batches of one worker in a step: more than one if a step covers all workers
  double low = 0, high = 0;  // 90 % interval for a run of 40 steps a worker; equal to steps_per_s
                             // for the formulas
  std::string binds;         // worker, worker link, downlink, uplink, server; feed if more than
                             // half of the steps wait for their input
  // Shares of time in use: a worker's lane, the fullest link in each direction, server cores.
  double worker_use = 0, downlink_use = 0, uplink_use = 0, server_use = 0;
  double feed_use = 0;           // share of the rate that the input pipelines deliver
  double starved = 0;            // share of the steps that wait for their input
  double unfed_steps_per_s = 0;  // with input that never waits; as steps_per_s without a feed
  double worker_link_use = 0;  // all workers' links together, in the fuller direction; 0: no limit
};

// Batches/s of all workers: the measure by which sizes are compared.
inline double batches_per_s(const Point& p) { return p.steps_per_s * p.batches; }

// Returns the plans of all steps for the simulator.
std::vector<StepPlan> plan_steps(const Profile& profile, const Rig& rig);

// Callbacks of predict(): one call at a time, from any of its threads.
struct Watch {
  std::function<void(const Point&)> point;                    // each point, in order
  std::function<void(size_t done, size_t whole)> simulation;  // simulations ended, of all
};

// Returns one point for each of question.workers, with the profile's servers. The answer does not
// depend on the number of threads. Several profiles are kinds of workers: worker k is of kind k
// modulo their number. Throws INVALID_ARGUMENT for sizes out of 1..10000, rates of 0, and profiles
// that do not fit together or do not fit the mode.
std::vector<Point> predict(const std::vector<Profile>& kinds, const Question& question,
                           const Watch& watch = {});

}  // namespace penstock::cluster
