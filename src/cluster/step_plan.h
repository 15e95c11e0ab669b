// A profiled step prepared for the simulator: flat arrays, with the costs of transfers added, and
// without ops that take no time if that shrinks the graph.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/profile.h"
#include "cluster/rig.h"

namespace penstock::cluster {

struct PlannedOp {
  // delay: takes time but no resource.
  enum class Kind : uint8_t { none, delay, worker, server, transfer };
  Kind kind = Kind::none;
  int32_t place = 0;    // server; for a transfer the link: 2 * server, + 1 for the uplink
  double amount = 0;    // seconds or bytes
  double priority = 0;  // lower goes first among ready ops
  int32_t source = -1;  // op of the step; -1: overhead of a transfer
  int32_t first_next = 0, next_count = 0;  // range in StepPlan::next
};

// Returns the server that runs the op or whose link carries it; -1 none.
inline int32_t server_of(const PlannedOp& op) {
  if (op.kind == PlannedOp::Kind::transfer) return op.place / 2;
  return op.kind == PlannedOp::Kind::server ? op.place : -1;
}

struct StepPlan {
  std::vector<PlannedOp> ops;
  std::vector<int32_t> next;
  std::vector<int32_t> waits;        // by op: number of dependencies
  std::vector<int32_t> roots;        // by server (no server first), then in order of start
  std::vector<int32_t> root_groups;  // for each server: index of its first root in `roots`
  int32_t transfers = 0;
  double worker_s = 0, server_s = 0;  // computing time in the step
};

// Plans a step. Orders transfers by Op::priority, or by their recorded ends. REQUIRES a checked
// profile.
StepPlan plan_step(const Step& step, const Rig& rig);

}  // namespace penstock::cluster
