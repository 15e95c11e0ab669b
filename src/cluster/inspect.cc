#include "cluster/inspect.h"

#include <algorithm>
#include <cmath>

#include "cluster/all_reduce.h"
#include "cluster/simulator.h"

namespace penstock::cluster {
namespace {

constexpr int32_t kSlices = 60;
constexpr size_t kFewSteps = 10;

double seconds_of(const Op& op, double rate) {
  // A ring of two ranks sends each byte once over each link.
  return is_transfer(op.resource) || is_collective(op.resource)
             ? static_cast<double>(op.bytes) / rate
             : op.duration_s;
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
    double& part = is_transfer(op.resource) || is_collective(op.resource) ? out->critical_transfer_s
                   : op.resource == Resource::server                      ? out->critical_server_s
                                                                          : out->critical_worker_s;
    part += share * seconds_of(op, rate);
  }
}

// Adds `amount` to the slices that the span covers, in proportion to its time in each.
void spread(const Span& span, double amount, double Slice::* to, Inspection* out) {
  const double length_s = span.end_s - span.start_s;
  for (size_t k = 0; length_s > 0 && k < out->slices.size(); ++k) {
    const double from_s = out->slice_s * static_cast<double>(k);
    const double inside_s =
        std::min(span.end_s, from_s + out->slice_s) - std::max(span.start_s, from_s);
    if (inside_s > 0) out->slices[k].*to += amount * inside_s / length_s / out->slice_s;
  }
}

void add_slices(const std::vector<Outcome>& replays, Inspection* out) {
  double longest_s = 0;
  for (const Outcome& o : replays) longest_s = std::max(longest_s, o.end_s);
  if (longest_s <= 0) return;
  out->slice_s = longest_s / kSlices;
  out->slices.resize(kSlices);
  const double share = 1.0 / static_cast<double>(replays.size());
  for (const Outcome& o : replays) {
    for (const Span& s : o.spans) {
      using Kind = PlannedOp::Kind;
      double Slice::* to = s.kind == Kind::worker   ? &Slice::worker_use
                           : s.kind == Kind::server ? &Slice::server_use
                           : s.place % 2 == 0       ? &Slice::downlink_rate
                                                    : &Slice::uplink_rate;
      spread(s, share * s.amount, to, out);
    }
  }
}

// The times in which a span of the kind runs: apart from one another, ascending.
std::vector<std::pair<double, double>> busy_times(const Outcome& replay, bool transfers) {
  std::vector<std::pair<double, double>> all, out;
  for (const Span& s : replay.spans) {
    const bool computes = s.kind == PlannedOp::Kind::worker;
    const bool sends = !computes && s.kind != PlannedOp::Kind::server;
    if (transfers ? sends : computes) all.emplace_back(s.start_s, s.end_s);
  }
  std::ranges::sort(all);
  for (const auto& [start_s, end_s] : all) {
    if (out.empty() || start_s > out.back().second) {
      out.emplace_back(start_s, end_s);
    } else {
      out.back().second = std::max(out.back().second, end_s);
    }
  }
  return out;
}

// Share of the time with a transfer under way, on any link, in which a worker computes.
double hidden_share(const std::vector<Outcome>& replays) {
  double transfers_s = 0, hidden_s = 0;
  for (const Outcome& replay : replays) {
    const auto computing = busy_times(replay, false);
    auto first = computing.begin();  // that may end after the transfer begins
    for (const auto& [start_s, end_s] : busy_times(replay, true)) {
      transfers_s += end_s - start_s;
      while (first != computing.end() && first->second <= start_s) ++first;
      for (auto at = first; at != computing.end() && at->first < end_s; ++at)
        hidden_s += std::min(end_s, at->second) - std::max(start_s, at->first);
    }
  }
  return transfers_s > 0 ? hidden_s / transfers_s : 0;
}

std::vector<std::string> missing_in(const Profile& profile) {
  std::vector<std::string> out;
  double ops = 0, untimed = 0, transfers = 0, unsized = 0;
  for (const Step& step : profile.steps) {
    for (const Op& op : step.ops) {
      const bool sends = is_transfer(op.resource) || is_collective(op.resource);
      ops += op.resource != Resource::none;
      untimed += op.resource != Resource::none && op.start_s < 0;
      transfers += sends;
      unsized += sends && !op.known;
    }
  }
  const auto percent = [](double part, double whole) {
    const long rounded = std::lround(100 * part / whole);
    return rounded == 0 ? std::string("less than 1 %") : std::to_string(rounded) + " %";
  };
  if (untimed > 0)
    out.push_back("recorded times of " + percent(untimed, ops) +
                  " of the ops: they go in the order of the file");
  if (unsized > 0) out.push_back("sizes of " + percent(unsized, transfers) + " of the transfers");
  if (transfers == 0) out.emplace_back("transfers: nothing depends on the number of workers");
  if (profile.examples == 0) out.emplace_back("examples a step: rates are steps/s alone");
  if (profile.steps.size() < kFewSteps)
    out.push_back("steps: " + std::to_string(profile.steps.size()) +
                  " of them hardly show how steps differ");
  return out;
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
  std::vector<Outcome> replays;
  for (const Step& step : profile.steps) {
    Run run{1, profile.servers, 1, 1};
    run.record = true;
    replays.push_back(simulate({plan_step(step, rig)}, rig, run));
    replay_s += share * replays.back().end_s;
  }
  out.replay_s = replay_s;
  const bool collectives = has_collectives(profile);
  if (collectives) {
    replays.clear();
    for (const Step& step : profile.steps) {
      replays.push_back(replay_two_ranks(step, rate));
      out.two_ranks_s += share * replays.back().end_s;
    }
  }
  add_slices(replays, &out);
  out.missing = missing_in(profile);
  out.hidden_share = hidden_share(replays);
  return out;
}

}  // namespace penstock::cluster
