// One worker's training profile: for each profiled step the graph of its operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cluster {

// Resource that an operation uses: the paper's four, the links between workers (collectives of
// synchronous training), or none (the op only joins dependencies).
enum class Resource : uint8_t { none, worker, server, downlink, uplink, all_reduce, broadcast };
inline constexpr size_t kResources = 7;

std::string_view resource_name(Resource resource);
inline bool is_transfer(Resource r) { return r == Resource::downlink || r == Resource::uplink; }
inline bool is_collective(Resource r) {
  return r == Resource::all_reduce || r == Resource::broadcast;
}

struct Op {
  std::string name;
  Resource resource = Resource::none;
  bool known = true;  // false: the recording lacks the size of this transfer or the time of this op
  int32_t server = 0;     // for server, downlink and uplink
  double duration_s = 0;  // computing time; 0 for a transfer
  int64_t bytes = 0;      // payload of a transfer or collective
  double start_s = -1;    // as recorded, from the start of the step; -1 unknown
  double end_s = -1;
  double priority = -1;       // lower goes first among ready ops; -1: as recorded
  std::vector<int32_t> deps;  // indices of the ops it waits for
};

struct Step {
  std::vector<Op> ops;
};

struct Profile {
  std::string source;
  int32_t servers = 1;
  int64_t examples = 0;            // per step, 0 unknown
  std::vector<Step> steps;         // kept separate: the simulator samples them
  std::vector<std::string> notes;  // gaps and assumptions, in words
};

// Appends an op that begins when those of `deps` have ended; returns its index.
int32_t append(Step* step, const std::string& name, Resource resource, int64_t bytes,
               double duration_s, std::vector<int32_t> deps);

// Checks the profile. Throws INVALID_ARGUMENT "profile: SOURCE: ..." unless there are 1 to 100000
// servers and at least one step, every step has ops with times from 0 to 1e6 s and known servers,
// all dependencies are inside the step and acyclic, and steps send bytes or compute 1 us on
// average.
void check(const Profile& profile);

// Returns the ops of a step, each after the ops it waits for. The result is shorter than ops if
// they form a cycle.
std::vector<int32_t> topological_order(const Step& step);

// Returns whether steps hold collectives: synchronous training without servers.
bool has_collectives(const Profile& profile);

// Returns the largest number of worker ops that ran at the same time, by the recorded times,
// without ops shorter than 0.1 ms. At least 1.
int worker_lanes(const Profile& profile);

}  // namespace penstock::cluster
