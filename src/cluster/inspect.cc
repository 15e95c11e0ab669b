#include "cluster/inspect.h"

#include <algorithm>

#include "cluster/simulator.h"

namespace penstock::cluster {
namespace {

double seconds_of(const Op& op, double rate) {
  return is_transfer(op.resource) ? static_cast<double>(op.bytes) / rate : op.duration_s;
}

void add_resources(const Step& step, double rate, double share, Inspection* out) {
  std::array<std::pair<double, double>, kResources> phase;
  phase.fill({-1, -1});
  for (const Op& op : step.ops) {
    ResourceSummary& r = out->by_resource[static_cast<size_t>(op.resource)];
    r.ops += share;
    r.bytes += share * static_cast<double>(op.bytes);
    r.seconds += share * seconds_of(op, rate);
    if (is_transfer(op.resource))
      out->server_bytes[static_cast<size_t>(op.server)] += share * static_cast<double>(op.bytes);
    if (op.start_s < 0) continue;
    auto& [first, last] = phase[static_cast<size_t>(op.resource)];
    first = first < 0 ? op.start_s : std::min(first, op.start_s);
    last = std::max(last, op.end_s);
  }
  for (size_t r = 0; r < phase.size(); ++r) {
    if (phase[r].first < 0) continue;
    ResourceSummary& to = out->by_resource[r];
    to.first_s = std::max(0.0, to.first_s) + share * phase[r].first;
    to.last_s = std::max(0.0, to.last_s) + share * phase[r].second;
  }
}

void add_critical_path(const Step& step, double rate, double share, Inspection* out) {
  std::vector<double> end_s(step.ops.size(), 0);
  std::vector<int32_t> before(step.ops.size(), -1);
  int32_t last = -1;
  for (const int32_t i : topological_order(step)) {
    const auto at = static_cast<size_t>(i);
    for (const int32_t d : step.ops[at].deps) {
      if (end_s[static_cast<size_t>(d)] <= end_s[at]) continue;
      end_s[at] = end_s[static_cast<size_t>(d)];
      before[at] = d;
    }
    end_s[at] += seconds_of(step.ops[at], rate);
    if (last < 0 || end_s[at] > end_s[static_cast<size_t>(last)]) last = i;
  }
  for (int32_t i = last; i >= 0; i = before[static_cast<size_t>(i)]) {
    const Op& op = step.ops[static_cast<size_t>(i)];
    double& part = is_transfer(op.resource)          ? out->critical_transfer_s
                   : op.resource == Resource::server ? out->critical_server_s
                                                     : out->critical_worker_s;
    part += share * seconds_of(op, rate);
  }
}

}  // namespace

Inspection inspect(const Profile& profile, double rate) {
  Inspection out;
  out.server_bytes.resize(static_cast<size_t>(profile.servers));
  out.lanes = worker_lanes(profile);
  const double share = 1.0 / static_cast<double>(profile.steps.size());
  for (const Step& step : profile.steps) {
    add_resources(step, rate, share, &out);
    add_critical_path(step, rate, share, &out);
  }
  Rig rig;
  rig.sharing = Sharing::equal;
  rig.server_rate = rate;
  rig.worker_lanes = out.lanes;
  rig.stagger_s = 0;
  double replay_s = 0;
  for (const Step& step : profile.steps) {
    const Outcome o = simulate({plan_step(step, rig)}, rig, Run{1, profile.servers, 1, 1});
    replay_s += share * o.end_s;
  }
  out.replay_s = replay_s;
  const auto seconds = [&](Resource r) { return out.by_resource[static_cast<size_t>(r)].seconds; };
  const double transfers_s = seconds(Resource::downlink) + seconds(Resource::uplink);
  const double serial_s = transfers_s + seconds(Resource::worker);
  if (transfers_s > 0) out.hidden_share = std::clamp((serial_s - replay_s) / transfers_s, 0.0, 1.0);
  return out;
}

}  // namespace penstock::cluster
