// Discrete-event simulation of asynchronous training: W workers, each running sampled steps.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/feed.h"
#include "cluster/rig.h"
#include "cluster/step_plan.h"

namespace penstock::cluster {

struct Run {
  int32_t workers = 1;
  int32_t servers = 1;
  int32_t steps = 200;  // minimum for each worker
  uint64_t seed = 1;
  // Synchronous training: a common step ends when all workers but `backups` have finished it. The
  // work of a late worker is dropped, and it continues with the current step.
  bool barrier = false;
  int32_t backups = 0;
  bool record = false;  // fills Outcome::spans
  Feed feed = {};       // input of each worker: an element a step
};

// Time during which an op of a worker ran or a transfer was in flight.
struct Span {
  int32_t worker = 0, step = 0;  // step: number of that worker's step, from 0
  PlannedOp::Kind kind = PlannedOp::Kind::none;
  int32_t place = 0;   // as in PlannedOp
  int32_t source = 0;  // op in the profile's step; -1: overhead of a transfer
  int32_t plan = 0;    // index of the worker's plan
  double start_s = 0, end_s = 0;
  double amount = 0;  // as in PlannedOp
};

struct Outcome {
  std::vector<std::vector<double>> step_ends_s;  // by worker; with a barrier one row for all
  std::vector<Span> spans;                       // ordered by end
  double end_s = 0;
  std::vector<double> link_bytes;   // by link (network.h), over the whole run
  std::vector<double> link_busy_s;  // time with a flow on it
  std::vector<double> server_s;     // computing time of each server
  double worker_s = 0;              // computing time of all workers together
  double starved = 0;               // share of the steps that waited for their input
};

// Simulates until every worker has ended run.steps steps. `plans` holds the profiled steps; each
// worker draws from them with replacement. With several kinds of workers, worker k is of kind k
// modulo their number. The outcome depends on the arguments alone. Throws INVALID_ARGUMENT for a
// rig without rate and for sizes below 1.
Outcome simulate(const std::vector<StepPlan>& plans, const Rig& rig, const Run& run);
Outcome simulate_kinds(const std::vector<std::vector<StepPlan>>& kinds, const Rig& rig,
                       const Run& run);

}  // namespace penstock::cluster
