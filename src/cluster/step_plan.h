// A profiled step made ready for the simulator: flat arrays, costs of transfers added, and what
// takes no time left out where that shrinks the graph.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/profile.h"
#include "cluster/rig.h"

namespace penstock::cluster {

struct PlannedOp {
  // delay: takes its time and nothing else.
  enum class Kind : uint8_t { none, delay, worker, server, transfer };
  Kind kind = Kind::none;
  int32_t place = 0;    // server; of a transfer the link: 2 * server, + 1 for the uplink
  double amount = 0;    // seconds or bytes
  double priority = 0;  // lower goes first where several are ready
  int32_t source = -1;  // op of the step; -1: what a transfer costs beside its bytes
  int32_t first_next = 0, next_count = 0;  // StepPlan::next
};

// The server that does the op, or whose link carries it; -1 none.
inline int32_t server_of(const PlannedOp& op) {
  if (op.kind == PlannedOp::Kind::transfer) return op.place / 2;
  return op.kind == PlannedOp::Kind::server ? op.place : -1;
}

struct StepPlan {
  std::vector<PlannedOp> ops;
  std::vector<int32_t> next;
  std::vector<int32_t> waits;        // by op: how many it waits for
  std::vector<int32_t> roots;        // by server (that of none first), then as they begin
  std::vector<int32_t> root_groups;  // where in `roots` those of a server begin
  int32_t transfers = 0;
  double worker_s = 0, server_s = 0;  // computing in the step
};

// REQUIRES a checked profile. Transfers go by Op::priority, or in the recorded order of their ends.
StepPlan plan_step(const Step& step, const Rig& rig);

}  // namespace penstock::cluster
