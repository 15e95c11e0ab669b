#include "cluster/profile.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace penstock::cluster {
namespace {

constexpr double kShortestLaneOp_s = 1e-4;
constexpr double kLongestOp_s = 1e6;
constexpr double kShortestStep_s = 1e-6;
constexpr int32_t kMostServers = 100'000;

void check_op(const std::string& where, const Profile& profile, const Step& step, const Op& op) {
  const auto bad = [&](const std::string& what) {
    throw Error(Code::invalid_argument, where + "op " + op.name + ": " + what);
  };
  if (!(op.duration_s >= 0)) bad("duration must be at least 0: " + std::to_string(op.duration_s));
  if (op.duration_s > kLongestOp_s) {
    std::ostringstream text;
    text << op.duration_s;
    bad("duration must be at most 1e6 s: " + text.str());
  }
  if (op.bytes < 0) bad("bytes must be at least 0: " + std::to_string(op.bytes));
  if (op.server < 0 || op.server >= profile.servers) {
    bad("server " + std::to_string(op.server) + ": the profile has " +
        std::to_string(profile.servers));
  }
  for (const int32_t d : op.deps) {
    if (d < 0 || static_cast<size_t>(d) >= step.ops.size())
      bad("waits for op " + std::to_string(d) + ", which is not in the step");
  }
}

// Workers begin one after the other, and early ones run until the last begins. Steps without
// duration would mean too many steps before that.
void check_takes_time(const Profile& profile) {
  double computing_s = 0;
  for (const Step& step : profile.steps) {
    for (const Op& op : step.ops) {
      const bool sends = is_transfer(op.resource) || is_collective(op.resource);
      if (sends && op.bytes > 0) return;
      if (!sends && op.resource != Resource::none) computing_s += op.duration_s;
    }
  }
  if (computing_s >= kShortestStep_s * static_cast<double>(profile.steps.size())) return;
  throw Error(Code::invalid_argument,
              "profile: " + profile.source +
                  (computing_s > 0 ? ": its steps take less than 1 us, and no transfer has bytes"
                                   : ": its steps take no time: no op computes and no transfer "
                                     "has bytes"));
}

}  // namespace

std::string_view resource_name(Resource resource) {
  switch (resource) {
    case Resource::none: return "none";
    case Resource::worker: return "worker";
    case Resource::server: return "server";
    case Resource::downlink: return "downlink";
    case Resource::uplink: return "uplink";
    case Resource::all_reduce: return "all_reduce";
    case Resource::broadcast: return "broadcast";
  }
  return "none";
}

std::vector<int32_t> topological_order(const Step& step) {
  const size_t n = step.ops.size();
  std::vector<int32_t> waiting(n, 0), order;
  std::vector<std::vector<int32_t>> next(n);
  for (size_t i = 0; i < n; ++i) {
    for (const int32_t d : step.ops[i].deps) {
      next[static_cast<size_t>(d)].push_back(static_cast<int32_t>(i));
      ++waiting[i];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    if (waiting[i] == 0) order.push_back(static_cast<int32_t>(i));
  }
  for (size_t k = 0; k < order.size(); ++k) {
    for (const int32_t s : next[static_cast<size_t>(order[k])]) {
      if (--waiting[static_cast<size_t>(s)] == 0) order.push_back(s);
    }
  }
  return order;
}

int32_t append(Step* step, const std::string& name, Resource resource, int64_t bytes,
               double duration_s, std::vector<int32_t> deps) {
  Op op;
  op.name = name;
  op.resource = resource;
  op.bytes = bytes;
  op.duration_s = duration_s;
  op.deps = std::move(deps);
  step->ops.push_back(std::move(op));
  return static_cast<int32_t>(step->ops.size()) - 1;
}

void check(const Profile& profile) {
  const std::string who = "profile: " + profile.source + ": ";
  if (profile.steps.empty()) throw Error(Code::invalid_argument, who + "it holds no step");
  if (profile.servers < 1 || profile.servers > kMostServers)
    throw Error(Code::invalid_argument,
                who + "servers must be from 1 to 100000: " + std::to_string(profile.servers));
  for (size_t s = 0; s < profile.steps.size(); ++s) {
    const Step& step = profile.steps[s];
    const std::string where = who + "step " + std::to_string(s) + ": ";
    if (step.ops.empty()) throw Error(Code::invalid_argument, where + "it holds no op");
    for (const Op& op : step.ops) check_op(where, profile, step, op);
    const std::vector<int32_t> order = topological_order(step);
    if (order.size() == step.ops.size()) continue;
    std::vector<bool> done(step.ops.size(), false);
    for (const int32_t i : order) done[static_cast<size_t>(i)] = true;
    const auto stuck = static_cast<size_t>(std::ranges::find(done, false) - done.begin());
    throw Error(Code::invalid_argument, where + "op " + step.ops[stuck].name +
                                            " waits for itself: the dependencies form a cycle");
  }
  check_takes_time(profile);
}

bool has_collectives(const Profile& profile) {
  return std::ranges::any_of(profile.steps, [](const Step& s) {
    return std::ranges::any_of(s.ops, [](const Op& op) { return is_collective(op.resource); });
  });
}

int worker_lanes(const Profile& profile) {
  int most = 1;
  for (const Step& step : profile.steps) {
    std::vector<std::pair<double, int>> edges;
    for (const Op& op : step.ops) {
      if (op.resource != Resource::worker || op.start_s < 0) continue;
      if (op.end_s - op.start_s < kShortestLaneOp_s) continue;
      edges.emplace_back(op.start_s, 1);
      // Records are rounded to microseconds and taken at entry: an op that starts when another ends
      // does not overlap it.
      edges.emplace_back(op.end_s - kShortestLaneOp_s / 2, -1);
    }
    std::ranges::sort(edges);
    int now = 0;
    for (const auto& [time_s, change] : edges) most = std::max(most, now += change);
  }
  return most;
}

}  // namespace penstock::cluster
