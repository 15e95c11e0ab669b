// One worker's training profile: for each profiled step the graph of its operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cluster {

// What an operation uses: the paper's four resources, the links between workers (collectives of
// synchronous training), or nothing (it only joins dependencies).
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
  bool known = true;   // false: the recording has no size of this transfer, or no time of this op
  int32_t server = 0;  // which server, for server, downlink and uplink
  double duration_s = 0;  // computing time; a transfer has none of its own
  int64_t bytes = 0;      // payload of a transfer or collective
  double start_s = -1;    // as recorded, from the start of the step; -1 unknown
  double end_s = -1;
  double priority = -1;       // lower goes first where several are ready; -1: as recorded
  std::vector<int32_t> deps;  // indices of the ops it waits for
};

struct Step {
  std::vector<Op> ops;
};

struct Profile {
  std::string source;
  int32_t servers = 1;
  int64_t examples = 0;            // a step, 0 unknown
  std::vector<Step> steps;         // kept apart: the simulator samples them
  std::vector<std::string> notes;  // what is missing or was assumed, in words
};

// Appends an op that begins when those of `deps` have ended; its index.
int32_t append(Step* step, const std::string& name, Resource resource, int64_t bytes,
               double duration_s, std::vector<int32_t> deps);

// Throws INVALID_ARGUMENT "profile: SOURCE: ..." unless there are 1 to 100000 servers and a step,
// every step has ops with times from 0 to 1e6 s and known servers, no dependency is outside the
// step or on a cycle, and steps send bytes or compute 1 us on average.
void check(const Profile& profile);

// The ops of a step, each behind what it waits for; shorter than ops when they form a cycle.
std::vector<int32_t> topological_order(const Step& step);

// Whether steps hold collectives: synchronous training without servers.
bool has_collectives(const Profile& profile);

// Most ops of the worker that ran at the same time, by the recorded times; ops shorter than 0.1 ms
// are left out. At least 1.
int worker_lanes(const Profile& profile);

}  // namespace penstock::cluster
