#include "cluster/placement.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "base/error.h"

namespace penstock::cluster {
namespace {

constexpr int32_t kMostServers = 1000;

}  // namespace

std::vector<int32_t> variables_of(const Step& step) {
  std::vector<int32_t> out(step.ops.size(), -1);
  const auto variable = [&](int32_t i) -> int32_t& { return out[static_cast<size_t>(i)]; };
  const std::vector<int32_t> order = topological_order(step);
  for (const int32_t i : order) {
    const Op& op = step.ops[static_cast<size_t>(i)];
    if (op.resource == Resource::worker || op.resource == Resource::uplink) continue;
    if (op.deps.empty() && op.resource == Resource::server) variable(i) = i;
    for (const int32_t d : op.deps)
      if (variable(i) < 0) variable(i) = variable(d);
  }
  // A gradient belongs to the variable to which it is applied.
  for (const int32_t i : order) {
    const Op& op = step.ops[static_cast<size_t>(i)];
    if (op.resource != Resource::server || variable(i) < 0) continue;
    for (const int32_t d : op.deps) {
      if (step.ops[static_cast<size_t>(d)].resource == Resource::uplink && variable(d) < 0)
        variable(d) = variable(i);
    }
  }
  return out;
}

namespace {

// Returns the bytes of each variable in a step, in the order of the step.
std::vector<std::pair<std::string, int64_t>> sizes_of(const Step& step) {
  const std::vector<int32_t> variables = variables_of(step);
  std::map<int32_t, int64_t> sizes;
  for (size_t i = 0; i < step.ops.size(); ++i) {
    if (is_transfer(step.ops[i].resource) && variables[i] >= 0)
      sizes[variables[i]] += step.ops[i].bytes;
  }
  std::vector<std::pair<std::string, int64_t>> out;
  for (const auto& [variable, bytes] : sizes)
    out.emplace_back(step.ops[static_cast<size_t>(variable)].name, bytes);
  return out;
}

}  // namespace

Placement parse_placement(const std::string& name) {
  if (name == "greedy") return Placement::greedy;
  if (name == "round-robin") return Placement::round_robin;
  if (name == "optimised") return Placement::optimised;
  throw Error(Code::invalid_argument,
              "predict: placement must be greedy, round-robin or optimised: " + name);
}

Places places_of(const Profile& profile, int32_t servers, Placement placement) {
  if (servers < 1 || servers > kMostServers) {
    throw Error(Code::invalid_argument,
                "predict: servers must be from 1 to 1000: " + std::to_string(servers));
  }
  auto sizes = sizes_of(profile.steps[0]);
  if (sizes.empty()) {
    throw Error(Code::invalid_argument,
                "profile: " + profile.source + ": no transfers of variables to place on servers");
  }
  Places out;
  std::vector<int64_t> load(static_cast<size_t>(servers), 0);
  if (placement != Placement::round_robin) {
    std::ranges::sort(sizes, {}, &std::pair<std::string, int64_t>::first);
    std::ranges::stable_sort(sizes, std::greater<>(), &std::pair<std::string, int64_t>::second);
  }
  int32_t next = 0;
  for (const auto& [name, bytes] : sizes) {
    const auto least = static_cast<int32_t>(std::ranges::min_element(load) - load.begin());
    const int32_t server = placement == Placement::round_robin ? next++ % servers : least;
    load[static_cast<size_t>(server)] += bytes;
    out[name] = server;
  }
  return out;
}

Profile put(const Profile& profile, int32_t servers, const Places& places) {
  Profile out = profile;
  out.servers = servers;
  for (Step& step : out.steps) {
    const std::vector<int32_t> variables = variables_of(step);
    for (size_t i = 0; i < step.ops.size(); ++i) {
      step.ops[i].server = 0;
      if (variables[i] < 0) continue;
      const auto it = places.find(step.ops[static_cast<size_t>(variables[i])].name);
      if (it != places.end()) step.ops[i].server = it->second;
    }
  }
  return out;
}

Profile place(const Profile& profile, int32_t servers, Placement placement) {
  Profile out = put(profile, servers, places_of(profile, servers, placement));
  const char* how = placement == Placement::round_robin
                        ? "one after the other"
                        : "the largest first on the emptiest server";
  const std::string count = std::to_string(servers);
  out.notes.push_back((servers == profile.servers
                           ? "the variables are placed anew on " + count + " servers, "
                           : "recorded with " + std::to_string(profile.servers) +
                                 (profile.servers == 1 ? " server" : " servers") + "; for " +
                                 count + " the variables are placed anew, ") +
                      how);
  return out;
}

}  // namespace penstock::cluster
