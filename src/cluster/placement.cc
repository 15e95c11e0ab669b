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
  // A gradient belongs to the variable that it is applied to.
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

// The bytes of each variable in a step, by name.
std::map<std::string, int64_t> sizes_of(const Step& step) {
  const std::vector<int32_t> variables = variables_of(step);
  std::map<std::string, int64_t> out;
  for (size_t i = 0; i < step.ops.size(); ++i) {
    if (is_transfer(step.ops[i].resource) && variables[i] >= 0)
      out[step.ops[static_cast<size_t>(variables[i])].name] += step.ops[i].bytes;
  }
  return out;
}

std::map<std::string, int32_t> servers_of(const std::map<std::string, int64_t>& sizes,
                                          int32_t servers) {
  std::vector<std::pair<std::string, int64_t>> order(sizes.begin(), sizes.end());
  std::ranges::stable_sort(order, std::greater<>(), &std::pair<std::string, int64_t>::second);
  std::vector<int64_t> load(static_cast<size_t>(servers), 0);
  std::map<std::string, int32_t> out;
  for (const auto& [name, bytes] : order) {
    const auto least = std::ranges::min_element(load);
    *least += bytes;
    out[name] = static_cast<int32_t>(least - load.begin());
  }
  return out;
}

}  // namespace

Profile place(const Profile& profile, int32_t servers) {
  if (servers < 1 || servers > kMostServers) {
    throw Error(Code::invalid_argument,
                "predict: servers must be from 1 to 1000: " + std::to_string(servers));
  }
  const std::map<std::string, int64_t> sizes = sizes_of(profile.steps[0]);
  if (sizes.empty()) {
    throw Error(Code::invalid_argument,
                "profile: " + profile.source + ": no transfers of variables to place on servers");
  }
  const std::map<std::string, int32_t> where = servers_of(sizes, servers);
  Profile out = profile;
  out.servers = servers;
  for (Step& step : out.steps) {
    const std::vector<int32_t> variables = variables_of(step);
    for (size_t i = 0; i < step.ops.size(); ++i) {
      step.ops[i].server = 0;
      if (variables[i] < 0) continue;
      const auto it = where.find(step.ops[static_cast<size_t>(variables[i])].name);
      if (it != where.end()) step.ops[i].server = it->second;
    }
  }
  out.notes.push_back("recorded with " + std::to_string(profile.servers) + " servers; for " +
                      std::to_string(servers) +
                      " the variables are placed anew, the largest first on the emptiest server");
  return out;
}

}  // namespace penstock::cluster
